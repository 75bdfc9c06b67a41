"""The judges by people's labels, as the start page tells it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from schemas import Calibration, ConsistencyEvidence, Measured, valid_labels
from store.reviews import Judged, Reviews

SHOWN_FROM: Final = 30
"""Labels that a rate needs."""

_LOOKED_AT: Final = 300
"""Labelled verdicts of a series among which the kind is looked for that the judge is worst on."""

_SERIES: Final = 50
_AS_NARROW: Final = 1.05
"""A judge adds nothing where labels alone are at most that much wider: some ten labels in a hundred make up for it."""

_HALF: Final = 0.5


Worst: TypeAlias = tuple[str, int, int]
"""The kind of outputs on which a judge agrees least with people, on how many of how many."""

FindWorst = Callable[[Iterable[tuple[bool, Mapping[str, Any]]]], Worst | None]
"""Gives it for records, each with whether judge and people agree on it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One judge on one subject."""

    now: Calibration
    before: Calibration | None
    """That of an earlier configuration or rubric, where it had a rate."""
    worst: Worst | None

    @property
    def answered(self) -> float:
        """The share of the requests that have a label."""
        asked = sum(each.asked for each in self.now.strata)
        return min(1.0, self.now.labels / asked) if asked else 0.0

    @property
    def adds_nothing(self) -> bool:
        """True where labels alone would be as narrow."""
        rate, alone = self.now.rate, self.now.labels_alone
        return rate is not None and alone is not None and alone <= reach(rate) * _AS_NARROW


class People:
    """Reads what labels say from the store."""

    def __init__(self, reviews: Reviews, find_worst: FindWorst | None) -> None:
        self._reviews = reviews
        self._find_worst = find_worst
        self._worst: dict[str, Worst | None] = {}
        """By calibration: looking through labels takes a moment, and they change seldom."""

    def standings(self) -> list[Standing]:
        """Those with a label: fallen ones first, then by the number of labels."""
        series: dict[tuple[str, str, str], list[Calibration]] = {}
        for each in self._reviews.calibrations():
            series.setdefault((each.source, each.model, each.checker), []).append(each)
        told = [self._standing(*some) for some in series.values() if any(each.labels for each in some)]
        told.sort(key=lambda each: (not each.now.fallen, -each.now.labels))
        self._worst = {each.now.id: each.worst for each in told}
        return told[:_SERIES]

    def _standing(self, now: Calibration, *earlier: Calibration) -> Standing:
        before = next((each for each in earlier if each.rate is not None), None)
        return Standing(now, before, None if now.rate is None else self._worst_of(now))

    def _worst_of(self, series: Calibration) -> Worst | None:
        if self._find_worst is None or series.id in self._worst:
            return self._worst.get(series.id)
        judged = self._reviews.judged(series, limit=_LOOKED_AT)
        return self._find_worst(pair for each in judged if (pair := _agrees(each)) is not None)


def reach(measured: Measured) -> float:
    """Half the width of an interval."""
    return (measured.high - measured.low) / 2


def _agrees(one: Judged) -> tuple[bool, Mapping[str, Any]] | None:
    """Whether people say what the judge says, and the record; None if they are not sure, or it is not at hand."""
    values = [each.value or 0.0 for each in valid_labels(one.labels).values()]
    mean = sum(values) / len(values) if values else _HALF
    if mean == _HALF or one.verdict.outcome == "abstain":
        return None
    record = None if one.record is None else orjson.loads(one.record)
    if record is None and isinstance(one.verdict.evidence, ConsistencyEvidence):
        record = {"response": " ".join(each.text for each in one.verdict.evidence.sentences)}
    return None if record is None else ((mean > _HALF) == (one.verdict.outcome == "accept"), record)
