"""The latest verdicts of a series with what they have, so that an alert says what its rejects have in common."""

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from schemas import Attribute, Commonality
from store.commonalities import commonalities

_VERDICTS: Final = 200
_ATTRIBUTES: Final = 300  # Different ones: producers choose them, so memory needs a limit.
_TOLD: Final = 3


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
        if any(not 0 <= place < len(self.attributes) for _, places in self.verdicts for place in places):
            raise ValueError("the state is without an attribute of a verdict")

    def add(self, accepted: bool, attributes: Iterable[Attribute]) -> None:
        """Count the latest verdict."""
        self.verdicts.append((accepted, [self._place(one) for one in attributes]))
        if len(self.verdicts) > _VERDICTS or len(self.attributes) > _ATTRIBUTES:
            half = len(self.verdicts) // 2
            kept = [(each, self._of(places)) for each, places in self.verdicts[1:half:2] + self.verdicts[half:]]
            self.attributes, self._places = [], {}
            self.verdicts = [(each, [self._place(one) for one in having]) for each, having in kept]

    def common(self) -> tuple[Commonality, ...]:
        """What rejects have in common, the strongest first; at most three."""
        of = {
            wanted: [frozenset(self._of(at)) for each, at in self.verdicts if each is wanted]
            for wanted in (True, False)
        }
        return tuple(commonalities(of[False], of[True])[:_TOLD])

    def _of(self, places: Sequence[int]) -> list[Attribute]:
        return [self.attributes[place] for place in places]

    def _place(self, attribute: Attribute) -> int:
        place = self._places.setdefault(attribute, len(self.attributes))
        if place == len(self.attributes):
            self.attributes.append(attribute)
        return place
