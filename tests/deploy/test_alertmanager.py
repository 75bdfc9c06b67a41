"""Alertmanager's configuration fits the alerts that there are, and its placeholder receiver prints them."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import yaml

from agents.monitor.settings import AlertmanagerSettings
from tests.deploy.test_monitoring import ALERTS, services

ROOT = Path(__file__).parent.parent.parent
ALERTMANAGER = ROOT / "deploy" / "alertmanager"
NAMES = {rule["alert"] for rule in ALERTS} | {"AssayTrustDrop"}


def config() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ALERTMANAGER / "alertmanager.yml").read_text("utf-8"))
    return document


def test_compose_mounts_the_configuration_and_the_receiver_listens_where_it_posts():
    alertmanager, receiver = services()["alertmanager"], services()["alerts"]
    assert "./deploy/alertmanager/alertmanager.yml:/etc/alertmanager/alertmanager.yml:ro" in alertmanager["volumes"]
    urls = [hook["url"] for each in config()["receivers"] for hook in each["webhook_configs"]]
    port = receiver["command"][2]
    assert all(url.startswith(f"http://alerts:{port}/") for url in urls)
    assert receiver["command"] == ["python", "/print_alerts.py", port, "--host", "0.0.0.0"]
    assert AlertmanagerSettings().runbook_url == f"http://127.0.0.1:{port}/runbook"
    assert receiver["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert "./docs/runbook.md:/docs/runbook.md:ro" in receiver["volumes"]


def test_inhibitions_speak_of_alerts_that_there_are():
    for rule in config()["inhibit_rules"]:
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            names = re.fullmatch(r"alertname=~?\"([\w|]+)\"", matcher)[1].split("|")
            assert set(names) <= NAMES


@pytest.fixture
def receiver() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, str(ALERTMANAGER / "print_alerts.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = re.fullmatch(r"listening on port (\d+)\n", process.stdout.readline())[1]
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.kill()


def notification(**annotations: str) -> dict[str, Any]:
    alert = {
        "status": "firing",
        "startsAt": "2026-11-21T10:00:00Z",
        "labels": {"alertname": "AssayTrustDrop", "model": "phi-2"},
        "annotations": annotations,
    }
    return {"version": "4", "alerts": [alert, alert | {"status": "resolved"}]}


def test_the_receiver_prints_a_line_for_each_alert(receiver):
    url, process = receiver
    assert httpx.get(url).status_code == 200
    addresses = {connection.laddr.ip for connection in psutil.Process(process.pid).net_connections("tcp4")}
    assert addresses == {"127.0.0.1"}
    assert httpx.post(f"{url}/pager", json=notification(summary="phi-2 dropped")).status_code == 200
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert [line["status"] for line in lines] == ["firing", "resolved"]
    assert lines[0] == {
        "receiver": "pager",
        "status": "firing",
        "startsAt": "2026-11-21T10:00:00Z",
        "labels": {"alertname": "AssayTrustDrop", "model": "phi-2"},
        "annotations": {"summary": "phi-2 dropped"},
    }
