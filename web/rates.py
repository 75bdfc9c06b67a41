"""Success rates over time, as small pictures."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from schemas import Alert, SeriesAnew, TrueRateAlert
from store.reading import Count, Series

WIDTH, HEIGHT = 320, 72

_STEPS = (1, 2, 10, 60, 240, 1440, 4320)
"""Minutes of one point of a picture. Days are counted by the day."""
_POINTS = 45
_BY_MINUTES = timedelta(days=2)
"""So far back there are counts of less than an hour."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SPARSE = 20
"""Decided verdicts below which a rate says little."""

_PERCENTILE = 1.96


class Point(NamedTuple):
    x: float
    y: float
    low: float
    """The lower end of the interval, in the picture."""
    high: float


class Flag(NamedTuple):
    """An alert, in the picture."""

    x: float
    alert: Alert | SeriesAnew | TrueRateAlert


@dataclass(frozen=True, slots=True)
class Rate:
    """The success rate of one series."""

    series: Series
    verdicts: dict[str, int]
    """By outcome."""
    lines: tuple[tuple[Point, ...], ...]
    """Points that follow one another without a gap."""
    flags: tuple[Flag, ...]

    @property
    def decided(self) -> int:
        return self.verdicts.get("accept", 0) + self.verdicts.get("reject", 0)

    @property
    def share(self) -> float | None:
        """The accepted of those that were decided."""
        return self.verdicts.get("accept", 0) / self.decided if self.decided else None

    @property
    def is_sparse(self) -> bool:
        return self.decided < SPARSE

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.verdicts.get("accept", 0), self.decided)


@dataclass(frozen=True, slots=True)
class Span:
    """A time that is looked at, in steps."""

    begin: datetime
    end: datetime
    minutes: int
    """Of a step."""

    @classmethod
    def of(cls, begin: datetime, end: datetime, now: datetime) -> "Span":
        """The steps that hold all of it: fine enough for a curve, and as fine as counts are kept."""
        least = 1 if now - begin < _BY_MINUTES else 60
        wide = (end - begin) / timedelta(minutes=1) / _POINTS
        minutes = next((one for one in _STEPS if one >= max(wide, least)), _STEPS[-1])
        step = timedelta(minutes=minutes)
        first = _EPOCH + (begin - _EPOCH) // step * step
        return cls(first, max(end, first + step), minutes)

    def x(self, moment: datetime) -> float:
        """Its place in a picture."""
        return WIDTH * ((moment - self.begin) / (self.end - self.begin))


def open_alerts(
    alerts: Iterable[Alert | SeriesAnew | TrueRateAlert],
) -> dict[Series, list[Alert | TrueRateAlert]]:
    """Of alerts, the latest first, those whose series has not recovered, nor began anew, since."""
    last: dict[tuple[Series, bool], Alert | SeriesAnew | TrueRateAlert] = {}
    for alert in alerts:
        last.setdefault((Series(alert.source, alert.model, alert.checker), alert.kind == "true_rate"), alert)
    found: dict[Series, list[Alert | TrueRateAlert]] = defaultdict(list)
    for (series, _), alert in last.items():
        fell = alert.kind == "trust_drop" or (isinstance(alert, TrueRateAlert) and alert.cause != "recovery")
        if fell and not isinstance(alert, SeriesAnew):
            found[series].append(alert)
    return found


def rates(
    series: Sequence[Series],
    counts: Iterable[Count],
    alerts: Iterable[Alert | SeriesAnew | TrueRateAlert],
    span: Span,
) -> list[Rate]:
    """A rate for each of `series`."""
    by_series: dict[Series, dict[datetime, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for one in counts:
        if one.begins < span.end:
            by_series[one.series][one.begins][one.outcome] = one.verdicts
    flags: dict[Series, list[Flag]] = defaultdict(list)
    for alert in alerts:
        x = span.x(alert.raised_at)
        if 0 <= x <= WIDTH:
            flags[Series(alert.source, alert.model, alert.checker)].append(Flag(round(x, 1), alert))
    return [_rate(one, by_series[one], tuple(flags[one]), span) for one in series]


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a rate; (0, 1) where `n` is 0."""
    if not n:
        return 0.0, 1.0
    z2 = _PERCENTILE**2
    middle = (successes + z2 / 2) / (n + z2)
    reach = _PERCENTILE / (n + z2) * math.sqrt(successes * (n - successes) / n + z2 / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _rate(series: Series, counts: dict[datetime, dict[str, int]], flags: tuple[Flag, ...], span: Span) -> Rate:
    step = timedelta(minutes=span.minutes)
    points: list[tuple[int, Point]] = []
    total: dict[str, int] = defaultdict(int)
    for at in sorted(counts):
        for outcome, number in counts[at].items():
            total[outcome] += number
        accepted, rejected = counts[at].get("accept", 0), counts[at].get("reject", 0)
        if decided := accepted + rejected:
            slot = (at - span.begin) // step
            low, high = wilson(accepted, decided)
            x = min(max(span.x(at + step / 2), 0.0), WIDTH)
            points.append((slot, Point(round(x, 1), _y(accepted / decided), _y(low), _y(high))))
    # Slots that follow one another differ from their places by the same number.
    lines = groupby(enumerate(points), key=lambda one: one[1][0] - one[0])
    return Rate(series, dict(total), tuple(tuple(point for _, (_, point) in line) for _, line in lines), flags)


def _y(share: float) -> float:
    return round(HEIGHT * (1 - share), 1)
