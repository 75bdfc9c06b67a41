"""One version against another: whether the interval of the difference holds at every look, and how soon one is found.

    python -m benchmarks.versions [--only interval,labels,alarm,traffic] [--series N]

Simulated verdicts with fixed seeds, looked at after each of them from 30 of each version on.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from agents.monitor.versions import COMPARED_FROM, VersionCount, change, rate_of, unlike
from benchmarks.labels import JUDGES
from benchmarks.running import Part, run_parts
from benchmarks.tables import table
from schemas import RejectedRecord
from schemas.labels import VersionRate

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

_KINDS: Final = (((0.5, 0.3, 0.2), None), ((0.9, 0.1), None), ((0.5, 0.5), (0.7, 0.3)), ((0.9, 0.1), (0.6, 0.4)))
"""Shares of the kinds of verdicts before and after; None where they stay the same."""

Verdicts = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which version each verdict is on, and whether it is an accept."""


def interval(series: int) -> bool:
    """Print the coverage at every look, and the half-width after 400 of each; false if a course misses its bound."""
    rows, held = [], True
    for course in COURSES:
        for before, after in RATES:
            found = [_covered(verdicts(course, before, after, seed), after - before) for seed in range(series)]
            covered, shown = _shares(found)
            held &= covered >= _COVERED
            rows.append([course, f"{before:.2f}", f"{after:.2f}", covered, shown])
    print(table(["course", "before", "after", "covered at all looks", "half-width at 400"], rows))
    return held


def labels(series: int) -> bool:
    """Print the coverage of the difference that labels correct, after every label; false if one misses its bound."""
    rows, held = [], True
    for judge in JUDGES:
        for before, after in ((0.9, 0.9), (0.9, 0.8)):
            found = []
            for seed in range(series):
                looks = list(_labelled(before, after, JUDGES[judge], seed))
                hit = all(low <= after - before <= high for _, low, high in looks)
                found.append((hit, next(((high - low) / 2 for number, low, high in looks if number == 300), None)))
            covered, shown = _shares(found)
            held &= covered >= _COVERED
            rows.append([judge, f"{before:.2f}", f"{after:.2f}", covered, shown])
    print(table(["judge", "before", "after", "covered at all looks", "half-width at 300 labels"], rows))
    return held


def alarm(series: int) -> bool:
    """Print how many verdicts of each version it takes to tell of ten points, and false alarms; false if too many."""
    rows, held = [], True
    for before, after in ((0.95, 0.85), (0.9, 0.8), (0.85, 0.75)):
        found = [_told_after(verdicts("half each", before, after, seed)) for seed in range(series)]
        held &= all(_agrees(verdicts("half each", before, after, seed)) for seed in range(5))
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
    for shares, later in _KINDS:
        told = sum(_said_unlike(shares, later or shares, seed) for seed in range(series)) / series
        held &= later is not None or told <= _FALSE
        rows.append([_shown(shares), "the same" if later is None else _shown(later), f"{told:.4f}"])
    print(table(["kinds before", "kinds after", "said to differ at any look"], rows))
    return held


def _shares(found: list[tuple[bool, float | None]]) -> tuple[float, str]:
    """The share of the series that were covered at all looks, and the mean of the half-widths."""
    widths = [width for _, width in found if width is not None]
    return sum(hit for hit, _ in found) / len(found), f"{np.mean(widths):.3f}" if widths else ""


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


def _covered(course: Verdicts, truth: float) -> tuple[bool, float | None]:
    fewest, middle, half = _sequence(course, 0.05)
    at = np.flatnonzero(fewest == _SOON)
    hit = bool(np.all(np.abs(middle - truth)[fewest >= COMPARED_FROM] <= half[fewest >= COMPARED_FROM]))
    return hit, float(half[at[0]]) if len(at) else None


def _sequence(course: Verdicts, error: float) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """After each verdict the smaller number of verdicts, the difference, and half its width, as `change` has them."""
    later, accepted = course
    numbers, goods = (np.cumsum([~later & each, later & each], 1) for each in (np.ones(len(later), bool), accepted))
    smoothed = (goods + 2) / (numbers + 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        before, after = goods / numbers
        variance = (smoothed * (1 - smoothed) / numbers).sum(0)
        scale = (0.08 / variance) ** 2
        half = np.sqrt((variance + 1 / scale) * (np.log1p(variance * scale) - 2 * np.log(error)))
    first, second = (rate_of(int(number), int(good)) for number, good in zip(numbers[:, -1], goods[:, -1], strict=True))
    found = change(first, second, error)
    if not np.isclose(found.estimate - found.low, half[-1]):
        raise RuntimeError(f"the sequence is {found} in the program, and {half[-1]} here")
    return numbers.min(0), after - before, half


def _labelled(before: float, after: float, judge: tuple[float, float], seed: int) -> Iterator[tuple[int, float, float]]:
    """The number of labels, and the interval of the difference, after each of them."""
    later, good = verdicts("half each", before, after, seed)
    points = np.random.default_rng([seed, 1]).random((2, VERDICTS))
    accepted, number = np.where(good, points[0] < judge[0], points[0] >= judge[1]), 0
    versions = [VersionCount(ids=(), version={}, first_at=_WHEN) for _ in range(2)]
    for which, is_good, accepts, point in zip(
        *(each.tolist() for each in (later, good, accepted, points[1])), strict=True
    ):
        sums, chance = versions[which].strata["accept" if accepts else "reject"], 0.15 if accepts else 0.5
        versions[which].kinds[""] = versions[which].kinds.get("", 0) + 1
        sums.count()
        if point >= chance:
            continue
        number, sums.asked = number + 1, sums.asked + 1
        sums.add(float(is_good), chance)
        first, second = (each.kinds and each.rate(1.0).labelled for each in versions)
        if first and second:
            found = change(first, second)
            yield number, found.low, found.high


def _told_after(course: Verdicts) -> float:
    """The larger number of verdicts of a version until it is told that the later one is worse."""
    plan = Plan.of(TrustSettings(), SeriesKey("s", "m", "c"))
    fewest, middle, half = _sequence(course, 2 * plan.error_bound)
    rejected = course[0] & ~course[1]  # The program looks after these.
    told = np.flatnonzero(rejected & (fewest >= COMPARED_FROM) & (middle + half < -plan.tolerance))
    if not len(told):
        return float("inf")
    later = int(course[0][: told[0] + 1].sum())
    return max(later, int(told[0]) + 1 - later)


def _agrees(course: Verdicts) -> bool:
    """Whether the program tells it at the same verdict."""
    series, counts = TrustSeries(Plan.of(TrustSettings(), SeriesKey("s", "m", "c"))), [0, 0]
    for later, accepted in zip(*(each.tolist() for each in course), strict=True):
        counts[later] += 1
        raised = series.update(_outcome(int(later), accepted), _WHEN)
        if raised is not None and raised.kind == "version_worse":
            return max(counts) == _told_after(course)
    return _told_after(course) == float("inf")


def _said_unlike(before: tuple[float, ...], after: tuple[float, ...], seed: int) -> bool:
    """Whether it is said at any of 600 looks, ten verdicts from one to the next."""
    rng = np.random.default_rng([seed, 2])
    later = rng.random(2 * VERDICTS) < 0.5
    kinds = [rng.choice(len(shares), 2 * VERDICTS, p=shares).tolist() for shares in (before, after)]
    mixes: list[dict[str, int]] = [{}, {}]
    for place, which in enumerate(later.tolist()):
        mix, kind = mixes[which], str(kinds[which][place])
        mix[kind] = mix.get(kind, 0) + 1
        if place % 10 == 0 and min(sum(each.values()) for each in mixes) >= COMPARED_FROM and unlike(*map(_mix, mixes)):
            return True
    return False


def _mix(kinds: dict[str, int]) -> VersionRate:
    verdicts = sum(kinds.values())
    given: dict[str, Any] = {"version": {}, "first_at": _WHEN, "verdicts": verdicts, "labels": 0, "labelled": None}
    return VersionRate(**given, judged=rate_of(verdicts, verdicts), traffic={"kind": kinds})


def _outcome(which: int, accepted: bool) -> SeriesOutcome:
    rejected, at = None if accepted else _REJECTED, _WHEN + timedelta(seconds=which)
    more: dict[str, Any] = {"kind": "generation", "checked_at": at, "moment": _WHEN, "share": 1.0, "verdict_id": "v"}
    return SeriesOutcome.model_construct(**_SUBJECT, **more, version=_VERSIONS[which], rejected=rejected)


def _shown(shares: tuple[float, ...]) -> str:
    return " / ".join(f"{share:.0%}" for share in shares)


PARTS = {
    "interval": Part(lambda options: interval(options.series)),
    "labels": Part(lambda options: labels(options.series)),
    "alarm": Part(lambda options: alarm(options.series)),
    "traffic": Part(lambda options: traffic(options.series)),
}


if __name__ == "__main__":
    sys.exit(run_parts("versions", PARTS, __doc__, {"--series": (400, "of each rate and course")}))
