"""Versions of an application: their rates as the labels' agent publishes them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from agents.monitor.versions import rate_of, with_changes
from schemas import Calibration
from schemas.labels import VersionRate
from tests.support.labels import CALIBRATION

DAY = datetime(2026, 3, 2, tzinfo=UTC)


def version_rate(
    name: str, verdicts: int, accepted: int, *, day: int = 0, good: int | None = None, **traffic: dict[str, int]
) -> VersionRate:
    """The rate of a release whose first verdict was given on that day; `good`: of 60 labels."""
    return VersionRate(
        version={"metadata.release": name},
        first_at=DAY + timedelta(days=day),
        verdicts=verdicts,
        labels=0 if good is None else 60,
        judged=rate_of(verdicts, accepted),
        labelled=None if good is None else rate_of(60, good),
        traffic=traffic or {"kind": {"generation": verdicts}},
    )


def versions(*rates: VersionRate, **more: Any) -> Calibration:
    """The calibration of a series with these versions."""
    return CALIBRATION.model_copy(update={"versions": with_changes(rates)} | more)


VERSIONS = (version_rate("4.1", 400, 360), version_rate("4.2", 200, 150, day=1))
