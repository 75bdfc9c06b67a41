"""Prometheus finds the worker, Grafana finds Prometheus, and the dashboard asks for metrics that there are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from streams.judge_metrics import JudgeMetrics
from streams.metrics import StreamMetrics
from streams.settings import HttpSettings

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "assay.json"


def dashboard() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    return document


def expressions() -> list[str]:
    return [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]


def labels_by_metric() -> dict[str, set[str]]:
    """The labels of every time series that a worker exposes, by its name."""
    registry = CollectorRegistry()
    holders = (StreamMetrics(registry, max_subjects=1), JudgeMetrics(registry))
    found: dict[str, set[str]] = {}
    for metric in (value for holder in holders for value in vars(holder).values()):
        if isinstance(metric, MetricWrapperBase):
            labels = set(metric._labelnames)
            for suffix, more in {"": set(), "_total": set(), "_bucket": {"le"}, "_sum": set(), "_count": set()}.items():
                found[metric._name + suffix] = labels | more
    return found


def test_prometheus_scrapes_the_workers_port():
    (job,) = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    (search,) = job["dns_sd_configs"]
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    assert search["names"] == ["worker"]
    assert str(search["port"]) in services["worker"]["expose"]
    assert search["port"] == HttpSettings().port


def test_grafana_finds_prometheus_and_the_dashboard():
    provisioning = DEPLOY / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text("utf-8"))["datasources"]
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "assay.yml").read_text("utf-8"))["providers"]
    mounts = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]["grafana"]["volumes"]
    assert f"./deploy/grafana/dashboards:{provider['options']['path']}:ro" in mounts
    used = {panel["datasource"]["uid"] for panel in dashboard()["panels"] if "datasource" in panel}
    assert used == {source["uid"]}


def test_every_metric_of_the_dashboard_is_exposed_with_the_labels_it_is_asked_by():
    known = labels_by_metric()
    for expression in expressions():
        for name, matchers in re.findall(r"\b(assay_\w+)(?:\{([^}]*)\})?", expression):
            assert name in known, expression
            assert set(re.findall(r"(\w+)=~?\"", matchers)) <= known[name], expression
        grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")}
        of_all = set().union(*(known[name] for name in re.findall(r"\bassay_\w+", expression)))
        assert grouped <= of_all, expression


@pytest.mark.parametrize(
    "metric",
    [
        "assay_verdicts_total",
        "assay_check_duration_seconds_bucket",
        "assay_records_in_flight",
        "assay_dead_letters_total",
        "assay_last_verdict_timestamp_seconds",
        "assay_intake_paused",
        "assay_consumer_lag_records",
    ],
)
def test_the_dashboard_shows_what_an_operator_needs(metric):
    assert any(metric in expression for expression in expressions())


def test_panels_have_ids_of_their_own_and_do_not_overlap():
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24
