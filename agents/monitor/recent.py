"""The latest verdicts of a series with what they have, so that an alert says what its rejects have in common."""

from collections.abc import Iterable
from typing import Final

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from schemas import Attribute, Commonality
from store.commonalities import commonalities

_VERDICTS: Final = 200
_ATTRIBUTES: Final = 300  # Different ones: producers choose them, so memory needs a limit.


@dataclass(config=ConfigDict(extra="forbid"))
class RecentVerdicts:
    """Some 200 verdicts in 5 kB: the latest, and of those before the fewer the older they are.

    Accepts are thinned as rejects are. Were the latest of each kept, accepts would be younger, and rejects would have
    in common whatever is past.
    """

    attributes: list[Attribute] = Field(default_factory=list)
    verdicts: list[tuple[bool, list[int]]] = Field(default_factory=list)  # Accepted, and places in `attributes`.

    def __post_init__(self) -> None:
        self._places = {one: place for place, one in enumerate(self.attributes)}

    def add(self, accepted: bool, attributes: Iterable[Attribute]) -> None:
        """Count the latest verdict."""
        places = [self._places.setdefault(one, len(self._places)) for one in attributes]
        self.attributes = list(self._places)
        self.verdicts.append((accepted, places))
        half, before = len(self.verdicts) // 2, self.attributes
        if half and (len(self.verdicts) > _VERDICTS or len(before) > _ATTRIBUTES):
            kept = self.verdicts[1:half:2] + self.verdicts[half:]
            self._places, self.verdicts = {}, []
            for each, having in kept:
                self.add(each, [before[place] for place in having])

    def common(self) -> tuple[Commonality, ...]:
        """What rejects have in common, the strongest first; at most three."""
        rejects, accepts = (
            [frozenset(self.attributes[place] for place in places) for each, places in self.verdicts if each is wanted]
            for wanted in (False, True)
        )
        return tuple(commonalities(rejects, accepts)[:3])
