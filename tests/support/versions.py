"""Versions of an application: their rates as the trust monitor publishes them."""

from datetime import UTC, datetime, timedelta

from agents.monitor.versions import each_with_change, judged_rate
from schemas import VersionRate, VersionRates

DAY = datetime(2026, 3, 2, tzinfo=UTC)


def version_rate(name: str, verdicts: int, accepted: int, *, day: int = 0, **traffic: dict[str, int]) -> VersionRate:
    """The rate of a release whose first verdict was given on that day."""
    found = traffic or {"kind": {"generation": verdicts}, "tenant": {"": verdicts}}
    return judged_rate({"metadata.release": name}, DAY + timedelta(days=day), (verdicts, accepted), found, 1.0)


def version_rates(*rates: VersionRate, **more: object) -> VersionRates:
    given = {"id": "versions-1", "source": "shop", "model": "m", "checker": "fair", "updated_at": DAY}
    return VersionRates.model_validate(given | {"versions": each_with_change(rates)} | more)


VERSIONS = version_rates(version_rate("4.1", 400, 360), version_rate("4.2", 200, 150, day=1))
