"""Prometheus metrics of webhooks."""

from typing import Literal
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, Counter, Histogram

WebhookOutcome = Literal["delivered", "failed", "undeliverable"]
"""`delivered`: taken with a 2xx. `failed`: an attempt that is repeated. `undeliverable`: given up, a dead letter."""

# From a target on the same machine to the longest timeout that can be configured.
_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60)


class WebhookMetrics:
    """Deliveries and durations of all webhooks on a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._deliveries = Counter(
            "assay_webhook_deliveries",
            "Messages delivered or given up, and attempts that failed",
            ["webhook", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "assay_webhook_duration_seconds",
            "Time of one request to a webhook's target",
            ["webhook"],
            buckets=_SECONDS,
            registry=registry,
        )

    def ended(self, webhook: str, outcome: WebhookOutcome) -> None:
        self._deliveries.labels(webhook, outcome).inc()

    def asked(self, webhook: str, seconds: float) -> None:
        """Observe a request's duration, whatever its result."""
        self._seconds.labels(webhook).observe(seconds)


_KNOWN: WeakKeyDictionary[CollectorRegistry, WebhookMetrics] = WeakKeyDictionary()


def webhook_metrics(registry: CollectorRegistry) -> WebhookMetrics:
    """The metrics on `registry`, which takes each metric once."""
    known = _KNOWN.get(registry)
    if known is None:
        known = _KNOWN[registry] = WebhookMetrics(registry)
    return known
