"""How far judges agree with people's labels, for the overview."""

from dataclasses import dataclass
from typing import Final

from schemas import Calibration, Measured
from store.reviews import Reviews

SHOWN_FROM: Final = 30
"""Labels that a rate needs."""

_SERIES: Final = 50
_AS_NARROW: Final = 1.05
"""A judge adds nothing where labels alone are at most that much wider: some ten labels in a hundred make up for it."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """One judge on one subject."""

    now: Calibration
    before: Calibration | None
    """That of an earlier configuration or rubric, where it had a rate."""

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


def agreements(reviews: Reviews) -> list[Agreement]:
    """Those with a label: fallen ones first, then by the number of labels."""
    series: dict[tuple[str, str, str], list[Calibration]] = {}
    for each in reviews.calibrations():
        series.setdefault((each.source, each.model, each.checker), []).append(each)
    found = [
        Agreement(now, next((each for each in earlier if each.rate is not None), None))
        for now, *earlier in series.values()
        if any(each.labels for each in (now, *earlier))
    ]
    found.sort(key=lambda each: (not each.now.fallen, -each.now.labels))
    return found[:_SERIES]


def reach(measured: Measured) -> float:
    """Half the width of an interval."""
    return (measured.high - measured.low) / 2
