"""Metrics of series have bounded labels, and tell of those that are there only."""

from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry

from agents.monitor.metrics import TrustMetrics
from streams.metrics import StreamMetrics


def metrics(max_subjects: int = 10) -> tuple[CollectorRegistry, TrustMetrics]:
    registry = CollectorRegistry()
    return registry, TrustMetrics(StreamMetrics(registry, max_subjects=max_subjects))


def row(model: str, *, baseline: float | None = 0.9, dropped: bool = False) -> tuple[tuple[str, ...], Any]:
    state = {"baseline": baseline, "dropped": dropped, "evidence_ratio": 0.5, "dispersion": 2.0, "allowance": 0.01}
    return ("s", model, "c"), SimpleNamespace(**state)


def labels(model: str, *, checker: str = "c", source: str = "s") -> dict[str, str]:
    return {"checker": checker, "source": source, "model": model}


def test_subjects_beyond_the_maximum_are_one_that_dropped_if_any_did():
    registry, trust = metrics(max_subjects=2)
    rows = [row(f"m{number}", dropped=number == 4) for number in range(6)]
    trust.watch(lambda: rows)
    other = labels("other", source="other")
    assert registry.get_sample_value("assay_trust_dropped", labels("m1")) == 0
    assert registry.get_sample_value("assay_trust_dropped", labels("m2")) is None
    assert registry.get_sample_value("assay_trust_dropped", other) == 1
    assert registry.get_sample_value("assay_trust_baseline_ratio", other) is None
    rows[4] = row("m4")
    assert registry.get_sample_value("assay_trust_dropped", other) == 0


def test_checkers_have_an_end_too():
    registry, trust = metrics()
    for number in range(150):
        trust.counted(f"c{number}", "accept")
    assert registry.get_sample_value("assay_trust_verdicts_total", {"checker": "c99", "outcome": "accept"}) == 1
    assert registry.get_sample_value("assay_trust_verdicts_total", {"checker": "other", "outcome": "accept"}) == 50
