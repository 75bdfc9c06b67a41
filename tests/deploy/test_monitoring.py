"""Prometheus finds the workers and Alertmanager, and its rules ask for series that there are and are tested."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.expressions import LABELS_BY_LEVEL, faults, series
from tests.deploy.metric_names import OF_PROMETHEUS, ON_ALL, labels_by_series

ROOT = Path(__file__).parent.parent.parent
PROMETHEUS = ROOT / "deploy" / "prometheus"
RULE_FILES = sorted((PROMETHEUS / "rules").glob("*.yml"))
TEST_FILES = sorted((PROMETHEUS / "tests").glob("*.yml"))


def read(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)


def groups() -> Iterator[dict[str, Any]]:
    for file in RULE_FILES:
        yield from read(file)["groups"]


RULES: list[dict[str, Any]] = [rule for group in groups() for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
RECORDS = [rule for rule in RULES if "record" in rule]
CASES: list[dict[str, Any]] = [case for file in TEST_FILES for case in read(file)["tests"]]
VALUE_TESTS = [test for case in CASES for test in case.get("promql_expr_test", [])]
ALERT_TESTS = [test for case in CASES for test in case.get("alert_rule_test", [])]


def known() -> dict[str, set[str]]:
    recorded = {rule["record"]: LABELS_BY_LEVEL[rule["record"].split(":")[0]] for rule in RECORDS}
    return labels_by_series() | OF_PROMETHEUS | recorded


def services() -> dict[str, Any]:
    found: dict[str, Any] = read(ROOT / "docker-compose.yml")["services"]
    return found


def test_prometheus_has_its_rules_and_finds_alertmanager():
    config = read(PROMETHEUS / "prometheus.yml")
    assert config["rule_files"] == ["rules/*.yml"]
    assert "./deploy/prometheus/rules:/etc/prometheus/rules:ro" in services()["prometheus"]["volumes"]
    (where,) = config["alerting"]["alertmanagers"]
    (target,) = where["static_configs"][0]["targets"]
    name, port = target.split(":")
    assert f"127.0.0.1:{port}:{port}" in services()[name]["ports"]


def test_rules_ask_for_series_that_there_are_by_labels_that_they_have():
    real = known()
    assert [fault for rule in RULES for fault in faults(rule["expr"], real)] == []


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_bad_it_is_what_it_means_and_what_to_do_and_is_tested_firing_and_not_firing(rule):
    assert rule["labels"] == {"severity": rule["labels"]["severity"]}
    assert rule["labels"]["severity"] in {"page", "warning"}
    about = ("$labels.source", "$labels.model", "of an application")
    about_a_source = any(words in rule["annotations"]["summary"] for words in about)
    assert rule["annotations"].keys() - {"page_url"} == {"summary", "description", "runbook_url"}
    assert ("page_url" in rule["annotations"]) == about_a_source
    configured = '{{ with query "runbook:assay_runbook:info" }}{{ . | first | label "url" }}'
    assert rule["annotations"]["runbook_url"] == f"{configured}#{rule['alert'].lower()}{{{{ end }}}}"
    told = [test["exp_alerts"] for test in ALERT_TESTS if test["alertname"] == rule["alert"]]
    told += [test["exp_samples"] for test in VALUE_TESTS if f'alertname="{rule["alert"]}"' in test["expr"]]
    assert any(told)
    assert not all(told)


def test_every_heading_of_an_alert_is_of_one_that_there_is():
    headings = re.findall(r"^#+ (Assay\w+)$", (ROOT / "docs" / "runbook.md").read_text("utf-8"), flags=re.MULTILINE)
    # Posted by the trust monitor itself.
    assert sorted(headings) == sorted([*(rule["alert"] for rule in ALERTS), "AssayTrustDrop"])


def test_every_recorded_series_has_a_value_expected_of_it():
    expected = set().union(*(series(test["expr"]) for test in VALUE_TESTS if test["exp_samples"]))
    assert {rule["record"] for rule in RECORDS} <= expected


def test_the_rules_are_tested_on_series_that_there_are():
    real = known()
    for case in CASES:
        for given in case["input_series"]:
            name, _, labels = given["series"].partition("{")
            assert set(re.findall(r"(\w+)=", labels)) <= real[name] | ON_ALL, given["series"]
