"""How far judges agree with people's labels, for the overview."""

from typing import Final, NamedTuple

from schemas import Calibration
from store.reviews import Reviews

SHOWN_FROM: Final = 30
"""Labels that a rate needs."""

_SERIES: Final = 50


class Agreement(NamedTuple):
    """One judge on one subject."""

    now: Calibration
    before: Calibration | None
    """That of an earlier configuration or rubric, where it had a rate."""


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
