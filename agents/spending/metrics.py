"""Prometheus metrics of budgets: what may be spent, what is, and whether what others spend is known."""

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Gauge


class SpendingMetrics:
    """Limits and spend by budget and unit (`calls`, `tokens`, `cost`)."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._limit = Gauge(
            "assay_budget_limit", "What may be spent in a day (UTC)", ["name", "unit"], registry=registry
        )
        self._spent = Gauge(
            "assay_budget_spent",
            "What all workers together have spent today (UTC), as far as this one knows",
            ["name", "unit"],
            registry=registry,
        )
        self._read = Gauge(
            "assay_budget_read_timestamp_seconds",
            "When the spending of all workers was last known to be read to its end",
            registry=registry,
        )

    def watch(self, name: str, limits: Mapping[str, float], spent: Mapping[str, Callable[[], float]]) -> None:
        """Export a budget's limits and spending by unit."""
        for unit, limit in limits.items():
            self._limit.labels(name, unit).set(limit)
        for unit, amount in spent.items():
            self._spent.labels(name, unit).set_function(amount)

    def read(self) -> None:
        """Note that the spending topic has been read to its end."""
        self._read.set_to_current_time()
