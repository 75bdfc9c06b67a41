"""Releases that are each a little worse than the one before, through the monitor's own series.

A figure is wrong if fewer than 95 of 100 such declines are found, or more than one of 100 where nothing gets worse.
"""

import random
from datetime import timedelta

from agents.trust.outcomes import SeriesKey, SeriesOutcome
from agents.trust.series import Series
from agents.trust.settings import TrustSettings
from benchmarks.tables import table
from benchmarks.trust.methods import MONDAY
from schemas import Alert, RejectedRecord

_RELEASES, _VERDICTS = 20, 150
_FOUND = 0.95


def run(series: int) -> bool:
    """Simulate and print; whether the bounds are kept."""
    rows, kept = [], True
    for an_hour in (10, 100):
        for points in (0.0, 0.02):
            places = [place for seed in range(series) if (place := _found(seed, points, an_hour)) is not None]
            share = len(places) / series
            kept &= share >= _FOUND if points else share <= 1 - _FOUND
            rows.append(
                [
                    f"{points * 100:.0f} points",
                    an_hour,
                    f"{share:.0%}",
                    sorted(places)[len(places) // 2] if places else None,
                ]
            )
    print(
        f"{_RELEASES} releases of {_VERDICTS} verdicts from 0.9, each so much worse; of {series} series with an alert\n"
    )
    print(table(["each worse by", "verdicts an hour", "found", "median release"], rows))
    return kept


def _found(seed: int, points: float, an_hour: int) -> int | None:
    source = random.Random(seed)
    series = Series(SeriesKey("app", "m", "c"), TrustSettings())
    for n in range(_RELEASES * _VERDICTS):
        release, moment = n // _VERDICTS, MONDAY + timedelta(hours=n / an_hour)
        accepted = source.random() < 0.9 - points * release
        rejected = RejectedRecord(verdict_id=f"v{n}", record_id=f"r{n}", reason="", checked_at=moment)
        outcome = SeriesOutcome.model_construct(
            source="app",
            model="m",
            checker="c",
            verdict_id=f"v{n}",
            version={"checker_version": "1", "metadata.prompt": str(release)},
            moment=moment,
            rejected=None if accepted else rejected,
        )
        if isinstance(series.update(outcome, moment), Alert):
            return release + 1
    return None
