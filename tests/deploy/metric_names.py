"""The time series that a worker exposes, and the labels of each: what dashboards and rules may ask for."""

import asyncio
from functools import cache, partial

from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from agents.archivist import Archivist
from agents.improver_agent import ImproverAgent
from agents.judge import JudgeMetrics
from agents.monitor.labels import LabelMetrics
from agents.monitor.trust import TrustMetrics
from agents.monitor.trust_series import Plan, TrustSeries
from agents.otlp import otlp_agents
from agents.routing import Budgets, BudgetSettings
from agents.scheduler import Scheduler
from agents.webhook_settings import WebhookSettings
from agents.webhooks import webhook
from agents.worker import Worker
from assay.wiring import OTLP
from checkers.longtail.probe_metrics import ProbeMetrics
from store.settings import StoreSettings
from streams.metrics import StreamMetrics
from streams.otlp.settings import OtlpSettings
from streams.settings import StreamSettings
from tests.support.checkers import improver
from tests.support.labels import CALIBRATION
from tests.support.scheduled import Counting
from tests.support.webhook_target import SECRET

OF_PROMETHEUS = {
    "up": {"job", "instance"},
    "ALERTS": {"alertname", "alertstate", "severity"},
    # Of a ProcessCollector, which every worker has.
    "process_start_time_seconds": set[str](),
}
"""Series that Prometheus or its client make by themselves."""

ON_ALL = {"job", "instance"}
"""Labels that Prometheus puts on whatever it scrapes."""


@cache
def labels_by_series() -> dict[str, set[str]]:
    """The labels of every series of our own, by its name; to be called first where no event loop runs."""
    registry = asyncio.run(_registry())
    series = StreamMetrics(CollectorRegistry(), max_subjects=1)
    trust, labels = TrustMetrics(series), LabelMetrics(series)
    trust.rows = lambda: [(("s", "m", "c"), TrustSeries(Plan(0.9, 0.0, 0.01)))]
    labels.rows = lambda: [(("s", "m", "c"), CALIBRATION)]
    # Of the front door, which knows the judge and the configuration.
    found = {"assay_build_info": {"version", "python_version", "judge"}, "assay_runbook_info": {"url", "page"}}
    for metric in (*registry._collector_to_names, *series.registry._collector_to_names):
        if isinstance(metric, MetricWrapperBase):
            named = set(metric._labelnames)
            suffixes = {
                "counter": {"_total": named},
                "gauge": {"": named},
                "histogram": {"_bucket": named | {"le"}, "_sum": named, "_count": named},
            }[metric._type]
            found |= {metric._name + suffix: names for suffix, names in suffixes.items()}
    for family in (*trust.collect(), *labels.collect()):
        found |= {sample.name: set(sample.labels) for sample in family.samples}
    return found


async def _registry() -> CollectorRegistry:
    """That of a worker with all other agents than the monitors, which it does not start."""
    hook = WebhookSettings.model_validate({"url": "https://hook.example", "secret": SECRET})
    worker = Worker(
        [
            partial(Archivist, StoreSettings(url="sqlite:///unused.db")),
            partial(ImproverAgent, improver("http://127.0.0.1:9")),
            partial(Scheduler, Counting()),
            *otlp_agents(OtlpSettings(endpoint="http://127.0.0.1:9", topics={"spans": "spans"}), OTLP),
            *webhook("hook", hook),
        ],
        StreamSettings(),
    )
    registry = worker.registry
    Budgets({"consistency": BudgetSettings(calls=1, cost=1)}, registry=registry)
    JudgeMetrics(registry)
    ProbeMetrics(registry, lambda source, model: (source, model))
    return registry
