"""The compose file is one, its services fit together, and Grafana's dashboards ask for series that there are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import yaml
from compose_spec import PyCompose

from assay.config import Configuration, load_configuration
from assay.origins import variables
from tests.deploy.expressions import faults
from tests.deploy.test_monitoring import known
from web.lists import Filters

ROOT = Path(__file__).parent.parent.parent
COMPOSE = ROOT / "docker-compose.yml"
LONG_RUNNING = ("kafka", "worker", "archivist", "page", "prometheus", "alertmanager", "alerts", "grafana")


def services() -> dict[str, dict[str, Any]]:
    PyCompose.from_yaml(COMPOSE.read_text("utf-8")).validate()
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return found


@pytest.mark.parametrize("name", LONG_RUNNING)
def test_a_service_comes_back_is_watched_and_is_bounded(name):
    service = services()[name]
    assert service["restart"] == "unless-stopped"
    assert {"cpus", "memory"} <= service["deploy"]["resources"]["limits"].keys()
    assert "healthcheck" in service or service["image"] == "assay", "the worker's is in its image"


def test_nothing_listens_beyond_this_machine():
    published = [port for service in services().values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def _configuration(service: str, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    for name in variables().values():
        monkeypatch.delenv(name)
    for name, value in services()[service]["environment"].items():
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value))
    return load_configuration(ROOT / "deploy" / "assay.toml")


def test_the_workers_environment_is_a_configuration(monkeypatch):
    configuration = _configuration("worker", monkeypatch)
    assert configuration.streams.kafka.bootstrap_servers == "kafka:19092"
    assert configuration.judge.backend == "local"
    assert configuration.warnings == ()
    (url,) = configuration.alertmanager.urls
    name, port = url.removeprefix("http://").split(":")
    assert f"127.0.0.1:{port}:{port}" in services()[name]["ports"]


def test_the_page_demands_a_token_and_is_published_where_it_listens(monkeypatch):
    page = _configuration("page", monkeypatch).ui
    assert len(page.token.get_secret_value() if page.token else "") >= 16
    service = services()["page"]
    assert service["command"][-2:] == ["--host", "0.0.0.0"]
    assert service["ports"] == ["127.0.0.1:8090:8090"]


def test_the_worker_has_the_time_to_drain():
    seconds = int(services()["worker"]["stop_grace_period"].removesuffix("s"))
    assert seconds > load_configuration().streams.delivery.drain_seconds


def test_the_image_runs_as_nobody_special_and_is_watched():
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    instructions = [line for line in re.sub(r"\\\n\s*", " ", text).splitlines() if line and not line.startswith("#")]
    last_stage = instructions[max(i for i, line in enumerate(instructions) if line.startswith("FROM")) :]
    by_name = {line.split()[0]: line.split(maxsplit=1)[1] for line in last_stage}
    assert by_name["USER"] not in {"root", "0", "0:0"}
    assert by_name["STOPSIGNAL"] == "SIGTERM"
    assert json.loads(by_name["ENTRYPOINT"]) == ["assay"]
    command = json.loads(by_name["HEALTHCHECK"].partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "healthcheck", "exec")
    assert "/healthz" in command[2]


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
