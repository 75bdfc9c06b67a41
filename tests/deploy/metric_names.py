"""The time series that a worker exposes, and the labels of each: what dashboards and rules may ask for."""

from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from agents.archivist import ArchivistMetrics
from agents.budgets import BudgetMetrics
from agents.improver_agent import ImproverMetrics
from agents.judge import JudgeMetrics
from agents.monitor.metrics import LabelMetrics, TrustMetrics
from agents.monitor.trust_series import Plan, TrustSeries
from agents.otlp import OtlpMetrics
from agents.scheduler import SchedulerMetrics
from agents.webhooks.agent import WebhookMetrics
from checkers.longtail.probe_metrics import ProbeMetrics
from streams.metrics import StreamMetrics
from tests.support.labels import CALIBRATION

OF_PROMETHEUS = {
    "up": {"job", "instance"},
    "ALERTS": {"alertname", "alertstate", "severity"},
    # Of a ProcessCollector, which every worker has.
    "process_start_time_seconds": set[str](),
}
"""Series that Prometheus or its client make by themselves."""

ON_ALL = {"job", "instance"}
"""Labels that Prometheus puts on whatever it scrapes."""


def labels_by_series() -> dict[str, set[str]]:
    """The labels of every series of our own, by its name."""
    registry = CollectorRegistry()
    stream = StreamMetrics(registry, max_subjects=1)
    trust = TrustMetrics(stream)
    trust.watch(lambda: [(("s", "m", "c"), TrustSeries(Plan(0.9, 0.0, 0.05, 0.01)))])
    labels = LabelMetrics(stream)
    labels.watch(lambda: [(("s", "m", "c"), CALIBRATION)])
    holders = (
        stream,
        trust,
        labels,
        JudgeMetrics(registry),
        ArchivistMetrics(registry),
        BudgetMetrics(registry),
        ImproverMetrics(stream),
        OtlpMetrics(registry),
        WebhookMetrics(registry),
        SchedulerMetrics(stream),
        ProbeMetrics(registry, stream.subject),
    )
    # Of the front door, which knows the judge and the configuration.
    found = {"assay_build_info": {"version", "python_version", "judge"}, "assay_runbook_info": {"url", "page"}}
    values = [value for holder in holders for value in vars(holder).values()]
    for metric in (each for value in values for each in (value.values() if isinstance(value, dict) else [value])):
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
