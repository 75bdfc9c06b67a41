"""Outcomes: the accepts and rejects of all checkers on one topic, each written behind its verdict."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from schemas import Attribute, Commonality, Origin, RejectedRecord
from schemas.base import Fraction, Name, Share, Timestamp
from store.commonalities import commonalities

Version: TypeAlias = Mapping[str, str]
"""The parts that are equal where two verdicts are comparable, by name: the checker's version, digest and judge, and
the application's version by the record's metadata."""

_VERDICTS: Final = 200
_ATTRIBUTES: Final = 300  # Different ones: producers choose them, so memory needs a limit.

METADATA: Final = "metadata."  # Beginning of the names of the application's parts.


class SeriesKey(NamedTuple):
    """A series: the verdicts of one checker on one subject."""

    source: str
    model: str
    checker: str


class SeriesOutcome(BaseModel):
    """An accept or a reject."""

    model_config = ConfigDict(frozen=True)

    source: Name
    model: Name
    checker: Name
    verdict_id: Name
    version: dict[str, str]
    moment: Timestamp  # When the output was produced; when it was checked, where its record does not say.
    rejected: RejectedRecord | None  # The record as alerts show it; None if it was accepted.
    record_id: Name
    score: Fraction
    checked_at: Timestamp
    origin: Origin | None  # Position of the record.
    share: Share  # That of the verdict.
    attributes: tuple[Attribute, ...] = ()  # By which rejects are compared with accepts.
    kind: Name | None

    @property
    def key(self) -> SeriesKey:
        return SeriesKey(self.source, self.model, self.checker)

    @property
    def accepted(self) -> bool:
        return self.rejected is None

    @property
    def outcome(self) -> Literal["accept", "reject"]:
        return "accept" if self.accepted else "reject"


@dataclass(config=ConfigDict(extra="forbid"))
class RecentVerdicts:
    """Some 200 verdicts in 5 kB: the latest, and of those before the fewer the older they are.

    Were the latest accepts and rejects kept, accepts would be younger, and rejects have in common whatever is past.
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
