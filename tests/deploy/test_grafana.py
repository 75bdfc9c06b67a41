"""Grafana finds Prometheus and the dashboards, and they ask for series that there are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import yaml

from tests.deploy.expressions import faults
from tests.deploy.test_monitoring import known
from web.filters import Filters

ROOT = Path(__file__).parent.parent.parent
GRAFANA = ROOT / "deploy" / "grafana"
FILES = sorted((GRAFANA / "dashboards").glob("*.json"))


def dashboard(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document


def expressions(file: Path) -> Iterator[str]:
    for panel in dashboard(file)["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


def links(file: Path) -> Iterator[str]:
    for panel in dashboard(file)["panels"]:
        for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", []):
            yield link["url"]


def test_grafana_finds_prometheus_alertmanager_and_the_dashboards():
    provisioning = GRAFANA / "provisioning"
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    sources = [
        source
        for file in (provisioning / "datasources").glob("*.yml")
        for source in yaml.safe_load(file.read_text("utf-8"))["datasources"]
    ]
    assert {source["type"] for source in sources} == {"prometheus", "alertmanager"}
    for source in sources:
        name, port = source["url"].removeprefix("http://").split(":")
        assert f"127.0.0.1:{port}:{port}" in services[name]["ports"]
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "assay.yml").read_text("utf-8"))["providers"]
    grafana = services["grafana"]
    assert f"./deploy/grafana/dashboards:{provider['options']['path']}:ro" in grafana["volumes"]
    home = Path(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert (str(home.parent), home.name) == (provider["options"]["path"], "overview.json")
    used = {
        panel["datasource"]["uid"] for file in FILES for panel in dashboard(file)["panels"] if panel["type"] != "row"
    }
    assert used == {source["uid"] for source in sources if source["type"] == "prometheus"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_dashboard_asks_for_series_that_there_are_by_labels_that_they_have(file):
    real = known()
    assert [fault for expression in expressions(file) for fault in faults(expression, real)] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_dashboards_variables_are_labels_of_series_and_all_are_used(file):
    real = known()
    variables = dashboard(file)["templating"].get("list", [])
    for variable in variables:
        selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]).groups()
        assert faults(selector, real) == []
        assert label in real[re.match(r"\w+", selector)[0]]
    used = {name for text in (*expressions(file), *links(file)) for name in re.findall(r"\$\{?(\w+)", text)}
    assert used - {"__rate_interval", "__field", "__data", "__from", "__to"} == {
        variable["name"] for variable in variables
    }


def test_panels_about_subjects_link_to_their_verdicts_on_the_page():
    linked = [link for file in FILES for link in links(file)]
    assert len(linked) == 10
    for link in linked:
        page, _, query = link.partition("?")
        assert page == "${page}/verdicts"
        for field, value in parse_qsl(query):
            assert field in Filters.__slots__
            assert value in {"abstain", "${__from:date:iso}", "${__to:date:iso}"} or re.fullmatch(
                rf"\$\{{__(field.labels|data.fields).{field}:percentencode\}}", value
            )
