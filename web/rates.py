"""Success rates and outcomes over time, as small pictures."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import NamedTuple, TypeAlias

from schemas import Alert, Calibration, TrueRateAlert
from store.reading import AlertMessage, Outcomes, Series
from store.reviews import Reviews

WIDTH, HEIGHT = 320, 72

_STEPS = (1, 2, 10, 60, 240, 1440, 4320)  # Minutes of one point of a picture. Days are counted by the day.
_POINTS = 45
_BY_MINUTES = timedelta(days=2)  # So far back there are counts of less than an hour.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

SHOWN_FROM = 30  # Labels that a rate by people needs.
_AGREEMENTS = 50
SPARSE = 20  # Decided verdicts below which a rate says little.
_PERCENTILE = 1.96

Stretch: TypeAlias = tuple[str, str, tuple[float, float, float, float] | None]
"""Steps of a curve that follow one another without a gap: line and band of the 95% intervals, as SVG has points; of a
single step x, the rate's y, and those of its interval's ends."""


class BaselineLine(NamedTuple):
    """The rate that a series is expected to have."""

    rate: float
    origin: str
    """`learned` or `configured`, as its last alert says; `before`: its rate in the days before."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The success rate of one series."""

    series: Series
    verdicts: dict[str, int]
    """By outcome."""
    alerts: tuple[AlertMessage, ...]
    """Those in the time that is looked at."""
    baseline: BaselineLine | None
    """None where nothing is known of it before."""

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

    @property
    def change(self) -> float | None:
        """Against the baseline; None where there is none, or too little to say."""
        if self.baseline is None or self.share is None or self.is_sparse:
            return None
        return self.share - self.baseline.rate

    @property
    def is_certain(self) -> bool:
        """True if the baseline is outside the interval."""
        low, high = self.interval
        return self.baseline is not None and not low <= self.baseline.rate <= high


@dataclass(frozen=True, slots=True)
class Span:
    """A time that is looked at, in steps."""

    begin: datetime
    end: datetime
    minutes: int
    """Of a step."""

    @classmethod
    def of(cls, begin: datetime, end: datetime, *, counted: datetime | None) -> "Span":
        """The steps that hold all of it, fine enough for a curve.

        `counted`: the present, where only counts are looked at: those of minutes do not go far back.
        """
        least = 1 if counted is None or counted - begin < _BY_MINUTES else 60
        wide = (end - begin) / timedelta(minutes=1) / _POINTS
        minutes = next((one for one in _STEPS if one >= max(wide, least)), _STEPS[-1])
        step = timedelta(minutes=minutes)
        first = _EPOCH + (begin - _EPOCH) // step * step
        return cls(first, max(end, first + step), minutes)

    @property
    def step(self) -> timedelta:
        return timedelta(minutes=self.minutes)

    def x(self, moment: datetime) -> float:
        """Its place in a picture."""
        return WIDTH * ((moment - self.begin) / (self.end - self.begin))


def bars(outcomes: Iterable[Outcomes], span: Span) -> list[tuple[datetime, datetime, dict[str, int]]]:
    """A histogram: begin, end and outcomes of each step."""
    by_step: dict[datetime, dict[str, int]] = defaultdict(dict)
    for one in outcomes:
        by_step[one.begins][one.outcome] = one.verdicts
    return [(at, min(at + span.step, span.end), verdicts) for at, verdicts in sorted(by_step.items())]


def open_alerts(last: Iterable[AlertMessage]) -> dict[Series, list[Alert | TrueRateAlert]]:
    """Of the last alerts of each series, those after which it has neither recovered nor been reset."""
    found: dict[Series, list[Alert | TrueRateAlert]] = defaultdict(list)
    for alert in last:
        fell = alert.kind == "trust_drop" if isinstance(alert, Alert) else getattr(alert, "cause", "") != "recovery"
        if isinstance(alert, Alert | TrueRateAlert) and fell:
            found[_series(alert)].append(alert)
    return found


def rates(
    totals: Mapping[Series, dict[str, int]],
    before: Mapping[Series, dict[str, int]],
    last: Iterable[AlertMessage],
    alerts: Iterable[AlertMessage],
) -> list[Rate]:
    """The rate of each series; `before` has their verdicts of the days before, `last` the last alert of each."""
    raised: dict[Series, list[AlertMessage]] = defaultdict(list)
    for alert in alerts:
        raised[_series(alert)].append(alert)
    # That of the last alert of a series, unless it was reset since; else its rate before.
    baselines: dict[Series, BaselineLine | None] = {}
    for one in last:
        if one.kind != "true_rate":
            baselines[_series(one)] = BaselineLine(one.baseline, one.baseline_from) if isinstance(one, Alert) else None
    for series, verdicts in before.items():
        accepted = verdicts.get("accept", 0)
        if (decided := accepted + verdicts.get("reject", 0)) >= SPARSE:
            baselines.setdefault(series, BaselineLine(accepted / decided, "before"))
    found = [Rate(one, verdicts, tuple(raised[one]), baselines.get(one)) for one, verdicts in totals.items()]
    return sorted(found, key=lambda one: (-sum(one.verdicts.values()), one.series))


def curve(outcomes: Iterable[Outcomes], span: Span) -> list[Stretch]:
    """The rate of a series over a time."""
    by_step: dict[int, dict[str, int]] = defaultdict(dict)
    for one in outcomes:
        by_step[(one.begins - span.begin) // span.step][one.outcome] = one.verdicts
    points = []
    for step, verdicts in sorted(by_step.items()):
        accepted = verdicts.get("accept", 0)
        if decided := accepted + verdicts.get("reject", 0):
            x = round(min(span.x(span.begin + (step + 0.5) * span.step), WIDTH), 1)
            low, high = wilson(accepted, decided)
            points.append((step, x, _y(accepted / decided), _y(low), _y(high)))
    found: list[Stretch] = []
    # Steps that follow one another differ from their places by the same number.
    for _, group in groupby(enumerate(points), key=lambda one: one[1][0] - one[0]):
        line = [point[1:] for _, point in group]
        ends = [(x, high) for x, _, _, high in line] + [(x, low) for x, _, low, _ in reversed(line)]
        alone = line[0] if len(line) == 1 else None
        found.append((_points((x, y) for x, y, _, _ in line), _points(ends), alone))
    return found


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a rate; (0, 1) where `n` is 0."""
    if not n:
        return 0.0, 1.0
    z2 = _PERCENTILE**2
    middle = (successes + z2 / 2) / (n + z2)
    reach = _PERCENTILE / (n + z2) * math.sqrt(successes * (n - successes) / n + z2 / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _series(alert: AlertMessage) -> Series:
    return Series(alert.source, alert.model, alert.checker)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _y(share: float) -> float:
    return round(HEIGHT * (1 - share), 1)


def agreements(reviews: Reviews) -> list[tuple[Calibration, Calibration | None]]:
    """What labels say of each judge on each subject: fallen ones first, then by the number of labels.

    Next to it that of an earlier configuration or rubric, where it had a rate.
    """
    series: dict[Series, list[Calibration]] = defaultdict(list)
    for each in reviews.calibrations():
        series[Series(each.source, each.model, each.checker)].append(each)
    found = [
        (now, next((each for each in earlier if each.rate is not None), None))
        for now, *earlier in series.values()
        if any(each.labels for each in (now, *earlier))
    ]
    return sorted(found, key=lambda each: (not each[0].fallen, -each[0].labels))[:_AGREEMENTS]
