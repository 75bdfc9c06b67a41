"""The figures: what is covered at every look, how soon a version that is worse is told, and how often in vain."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import TrustSettings
from agents.monitor.true_rate import Sums
from agents.monitor.trust_series import Plan
from agents.monitor.version_watch import VersionWatch
from agents.monitor.versions import COMPARED_FROM, change, rate_variance, true_rate
from benchmarks.labels.simulation import JUDGES
from benchmarks.tables import table
from checkers.intervals import sequence
from schemas import RejectedRecord

VERDICTS: Final = 3000
_AFTER: Final = 1500
"""Verdicts of the earlier version before the later one begins, where it takes over at once."""

COURSES: Final = ("half each", "one in ten", "at once", "more and more", "more if it looks well")
"""How the later version comes into use."""

RATES: Final = ((0.95, 0.95), (0.9, 0.9), (0.8, 0.8), (0.99, 0.99), (0.9, 0.8), (0.8, 0.9))
_COVERED: Final = 0.95
_SOON: Final = 400
_FALSE: Final = 0.01
_WHEN: Final = datetime(2026, 11, 28, tzinfo=UTC)
_VERSIONS: Final = ({"metadata.release": "1"}, {"metadata.release": "2"})
_REJECTED: Final = RejectedRecord(verdict_id="v", record_id="r", reason="-", checked_at=_WHEN)
_SUBJECT: Final[dict[str, Any]] = {"source": "s", "model": "m", "checker": "c"}

Verdicts = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which version each verdict is on, and whether it is an accept."""


def interval(series: int) -> bool:
    """Print the coverage at every look, and the half-width after 400 of each; false if a course misses its bound."""
    rows, held = [], True
    for course in COURSES:
        for before, after in RATES:
            missed, widths = 0, []
            for seed in range(series):
                hit, width = _covered(verdicts(course, before, after, seed), after - before)
                missed += not hit
                widths += [] if width is None else [width]
            covered = 1 - missed / series
            held &= covered >= _COVERED
            shown = f"{np.mean(widths):.3f}" if widths else ""
            rows.append([course, f"{before:.2f}", f"{after:.2f}", f"{covered:.3f}", shown])
    print(table(["course", "before", "after", "covered at all looks", "half-width at 400"], rows))
    return held


def labels(series: int) -> bool:
    """Print the coverage of the difference that labels correct, after every label; false if one misses its bound."""
    rows, held = [], True
    for judge, (accepts, rejects) in JUDGES.items():
        for before, after in ((0.9, 0.9), (0.9, 0.8)):
            missed, widths = 0, []
            for seed in range(series):
                hit = True
                for number, (low, high) in _labelled(before, after, (accepts, rejects), seed):
                    hit &= low <= after - before <= high
                    if number == 300:
                        widths.append((high - low) / 2)
                missed += not hit
            covered = 1 - missed / series
            held &= covered >= _COVERED
            rows.append([judge, f"{before:.2f}", f"{after:.2f}", f"{covered:.3f}", f"{np.mean(widths):.3f}"])
    print(table(["judge", "before", "after", "covered at all looks", "half-width at 300 labels"], rows))
    return held


def alarm(series: int) -> bool:
    """Print how many verdicts of each version it takes to tell of ten points, and false alarms; false if too many."""
    rows, held = [], True
    for before, after in ((0.95, 0.85), (0.9, 0.8), (0.85, 0.75)):
        found = [_told_after(verdicts("half each", before, after, seed)) for seed in range(series)]
        median = sorted(found)[series // 2]
        held &= median <= _SOON
        rows.append([f"{before:.2f}", f"{after:.2f}", f"{median:.0f}", f"{sorted(found)[series * 9 // 10]:.0f}", ""])
    for rate in (0.95, 0.9, 0.8):
        false = sum(np.isfinite(_told_after(verdicts("half each", rate, rate, seed))) for seed in range(series))
        held &= bool(false / series <= _FALSE)
        rows.append([f"{rate:.2f}", f"{rate:.2f}", "", "", f"{false / series:.4f}"])
    print(table(["before", "after", "verdicts a version, median", "nine of ten", "false alarms"], rows))
    return held


def traffic(series: int) -> bool:
    """Print how often traffic is said to differ, at any look; false if too often where it does not."""
    rows, held = [], True
    for shares, later in (
        ((0.5, 0.3, 0.2), None),
        ((0.9, 0.1), None),
        ((0.5, 0.5), (0.7, 0.3)),
        ((0.9, 0.1), (0.6, 0.4)),
    ):
        told = sum(_said_unlike(shares, later or shares, seed) for seed in range(series)) / series
        held &= later is not None or told <= _FALSE
        rows.append([_shown(shares), "the same" if later is None else _shown(later), f"{told:.4f}"])
    print(table(["kinds before", "kinds after", "said to differ at any look"], rows))
    return held


def verdicts(course: str, before: float, after: float, seed: int) -> Verdicts:
    """Verdicts on two versions with these success rates."""
    rng = np.random.default_rng([seed, *course.encode()])
    places, points = np.arange(VERDICTS), rng.random(VERDICTS)
    goods = rng.random((2, VERDICTS)) < np.array([[before], [after]])
    shares: dict[str, Any] = {
        "half each": 0.5,
        "one in ten": 0.1,
        "at once": places >= _AFTER,
        "more and more": places / VERDICTS,
    }
    if course in shares:
        later = points < shares[course]
    else:
        later, counts, share = np.zeros(VERDICTS, bool), np.zeros((2, 2)), 0.1
        for place, point in enumerate(points):
            later[place] = which = int(point < share)
            counts[which] += 1, goods[which, place]
            if place % 50 == 49 and counts[:, 0].all():
                share = 0.7 if counts[1, 1] / counts[1, 0] >= counts[0, 1] / counts[0, 0] else 0.1
    later[0] = False  # The earlier version is there first.
    return later, np.where(later, goods[1], goods[0])


def _covered(found: Verdicts, truth: float) -> tuple[bool, float | None]:
    hit, width, counts = True, None, [[0, 0], [0, 0]]
    for later, accepted in zip(*(each.tolist() for each in found), strict=True):
        counts[later][0] += 1
        counts[later][1] += accepted
        (first, good), (second, good_later) = counts
        if min(first, second) < COMPARED_FROM:
            continue
        variance = rate_variance(first, good) + rate_variance(second, good_later)
        low, high = sequence(good_later / second - good / first, variance)
        hit &= low <= truth <= high
        if width is None and min(first, second) == _SOON:
            width = (high - low) / 2
    return hit, width


def _labelled(
    before: float, after: float, judge: tuple[float, float], seed: int
) -> Iterator[tuple[int, tuple[float, float]]]:
    """The number of labels, and the interval of the difference, after each of them."""
    later, good = verdicts("half each", before, after, seed)
    points = np.random.default_rng([seed, 1]).random((2, VERDICTS))
    accepted, number = np.where(good, points[0] < judge[0], points[0] >= judge[1]), 0
    strata = [{outcome: Sums() for outcome in (True, False)} for _ in _VERSIONS]
    for which, is_good, accepts, point in zip(
        *(each.tolist() for each in (later, good, accepted, points[1])), strict=True
    ):
        sums, chance = strata[which][accepts], 0.15 if accepts else 0.5
        sums.count()
        if point >= chance:
            continue
        number, sums.asked = number + 1, sums.asked + 1
        sums.add(float(is_good), chance)
        rates = [true_rate(name, _WHEN, [*each.values()]) for name, each in zip(_VERSIONS, strata, strict=True)]
        if rates[0] is not None and rates[1] is not None and (found := change(rates[0], rates[1])) is not None:
            yield number, (found.low, found.high)


def _told_after(found: Verdicts) -> float:
    """The larger number of verdicts of a version until it is told that the later one is worse."""
    watch, plan, counts = VersionWatch(), Plan.of(TrustSettings(), SeriesKey("s", "m", "c")), [0, 0]
    for later, accepted in zip(*(each.tolist() for each in found), strict=True):
        counts[later] += 1
        outcome = _outcome(int(later), accepted, "generation")
        watch.count(outcome, ("all", str(later)))
        if watch.compared(outcome, plan, 1.0, _WHEN, run=1) is not None:
            return max(counts)
    return float("inf")


def _said_unlike(before: tuple[float, ...], after: tuple[float, ...], seed: int) -> bool:
    """Whether it is said at any of 600 looks, ten verdicts from one to the next."""
    rng, watch = np.random.default_rng([seed, 2]), VersionWatch()
    later = rng.random(2 * VERDICTS) < 0.5
    kinds = [rng.choice(len(shares), 2 * VERDICTS, p=shares).tolist() for shares in (before, after)]
    key = SeriesKey("s", "m", "c")
    for place, which in enumerate(later.tolist()):
        watch.count(_outcome(int(which), True, f"kind {kinds[which][place]}"), ("all", str(which)))
        if place % 10 == 0 and (rates := watch.rates(key, 1.0, _WHEN)) is not None and rates.versions[-1].unlike:
            return True
    return False


def _outcome(which: int, accepted: bool, kind: str) -> SeriesOutcome:
    rejected = None if accepted else _REJECTED
    more: dict[str, Any] = {"kind": kind, "tenant": None, "checked_at": _WHEN, "verdict_id": "v"}
    return SeriesOutcome.model_construct(**_SUBJECT, **more, version=_VERSIONS[which], rejected=rejected)


def _shown(shares: tuple[float, ...]) -> str:
    return " / ".join(f"{share:.0%}" for share in shares)
