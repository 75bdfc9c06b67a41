"""A metric goes wrong, and somebody is told: exporter, Prometheus, Alertmanager and receiver, all real."""

import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas import to_json
from tests.support.kafka import KafkaBroker
from tests.support.rejections import alert
from tests.support.scenarios import Place
from tests.support.traffic import put
from tests.support.waiting import wait_until
from tests.system.monitoring import exporting, receiving_alerts, running_alertmanager, running_prometheus

BEGUN = time.monotonic()


def metrics() -> str:
    """A worker that accepts and rejects ten verdicts a second each of one model, and accepts all of another."""
    verdicts = int((time.monotonic() - BEGUN) * 10)
    return f"""
assay_verdicts_total{{checker="consistency",outcome="accept",source="app",model="weak"}} {verdicts}
assay_verdicts_total{{checker="consistency",outcome="reject",source="app",model="weak"}} {verdicts}
assay_verdicts_total{{checker="consistency",outcome="accept",source="app",model="good"}} {verdicts}
assay_trust_baseline_ratio{{checker="consistency",source="app",model="weak"}} 0.9
assay_trust_baseline_ratio{{checker="consistency",source="app",model="good"}} 0.9
assay_last_verdict_timestamp_seconds{{checker="consistency"}} {time.time()}
assay_consumer_lag_records{{agent="consistency"}} 3
assay_records_in_flight{{agent="trust-monitor"}} 0
assay_kafka_last_answer_timestamp_seconds {time.time()}
assay_intake_paused{{agent="consistency"}} 1
assay_intake_paused{{agent="extraction"}} 1
assay_runbook_info{{url="https://wiki.example/assay",page="https://assay.example"}} 1
"""


def test_alerts_are_evaluated_routed_and_delivered(tmp_path: Path):
    with (
        exporting(metrics) as target,
        receiving_alerts() as inbox,
        running_alertmanager(tmp_path, inbox.url) as alertmanager,
        running_prometheus(tmp_path, [target], alertmanager) as prometheus,
    ):
        paused = inbox.wait_for("AssayIntakePaused", agent="consistency")
        assert paused.receiver == "pager"
        # Rules may be evaluated once before anything was scraped.
        runbook = "https://wiki.example/assay#assayintakepaused"
        wait_until(lambda: runbook in [each["annotations"]["runbook_url"] for each in alertmanager.alerts()])
        inbox.wait_for("AssayIntakePaused", agent="extraction")
        (group,) = [each for each in alertmanager.groups() if each["labels"]["alertname"] == "AssayIntakePaused"]
        assert {alert["labels"]["agent"] for alert in group["alerts"]} == {"consistency", "extraction"}
        below = inbox.wait_for("AssaySuccessRateBelowBaseline")
        assert below.receiver == "team"
        assert below.labels.items() >= {"checker": "consistency", "source": "app", "model": "weak"}.items()
        assert below.annotations["summary"].startswith("weak in app")
        assert prometheus.wait_for('subject:assay_success:ratio_rate5m{model="weak"}')[0][1] == 0.5
        firing = {labels["alertname"] for labels, _ in prometheus.query('ALERTS{alertstate="firing"}')}
        assert firing == {"AssayIntakePaused", "AssaySuccessRateBelowBaseline"}


def test_an_outage_of_kafka_pages_and_ends(own_kafka: KafkaBroker, tmp_path: Path):
    place = Place(own_kafka.bootstrap_servers, "outage", tmp_path)
    raw = place.settings()
    settings = place.prepare(raw)
    asyncio.run(put(place.servers, settings.topics.alerts, [to_json(alert(1))]))
    terminal = tmp_path / "terminal"
    command = [sys.executable, "-m", "assay", "alerts", "--follow"]
    variables = {"ASSAY_KAFKA__BOOTSTRAP_SERVERS": place.servers, "ASSAY_TOPICS__PREFIX": place.prefix}
    with (
        terminal.open("w") as out,
        subprocess.Popen(command, cwd=tmp_path, env=os.environ | variables, stdout=out, stderr=out) as following,
        place.worker([{"type": "accept"}], raw) as worker,
        receiving_alerts() as inbox,
        running_alertmanager(tmp_path, inbox.url) as alertmanager,
        running_prometheus(tmp_path, [f"127.0.0.1:{worker.port}"], alertmanager) as prometheus,
        ExitStack() as ending,
    ):
        ending.callback(following.kill)
        worker.wait_ready()
        wait_until(lambda: "TRUST DROP" in terminal.read_text())
        prometheus.wait_for("agent:assay_consumer_lag_records:sum == 0")
        own_kafka.kill()
        told = inbox.wait_for("AssayKafkaUnreachable")
        assert told.receiver == "pager"
        wait_until(lambda: f"\nKafka does not answer at {place.servers}, away since 20" in terminal.read_text())
        unready = worker.get("/readyz")
        assert unready.status_code == 503
        assert unready.json()["parts"]["kafka"].startswith(f"no answer from {place.servers} since 20")
        # The worker forgets what it measured at its next measurement, Prometheus at its next scrape.
        wait_until(lambda: not prometheus.query("agent:assay_consumer_lag_records:sum"))
        own_kafka.start()
        worker.wait_ready()
        inbox.wait_for("AssayKafkaUnreachable", status="resolved")
        prometheus.wait_for("agent:assay_consumer_lag_records:sum == 0")
        wait_until(lambda: f"\nKafka answers again at {place.servers}, away since 20" in terminal.read_text())
    events = [json.loads(line)["event"] for line in worker.log.read_text().splitlines()]
    assert [event for event in events if event.startswith("Kafka")] == ["Kafka does not answer", "Kafka answers again"]


def test_what_the_trust_monitor_posts_pages_and_silences_the_slower_alert_of_the_same_subject(tmp_path: Path):
    ends = (datetime.now(UTC) + timedelta(minutes=4)).isoformat()
    subject = {"checker": "consistency", "source": "app", "model": "weak"}
    drop = {
        "labels": {"alertname": "AssayTrustDrop", "severity": "page", **subject},
        "annotations": {"summary": "weak dropped", "rejected": "r-1: the first date is wrong"},
        "endsAt": ends,
    }
    slower = {
        "labels": {"alertname": "AssaySuccessRateBelowBaseline", "severity": "warning", **subject},
        "endsAt": ends,
    }
    elsewhere = {"labels": slower["labels"] | {"model": "good"}, "endsAt": ends}
    with receiving_alerts() as inbox, running_alertmanager(tmp_path, inbox.url) as alertmanager:
        alertmanager.post(drop)
        told = inbox.wait_for("AssayTrustDrop")
        assert told.receiver == "pager"
        assert told.annotations["rejected"] == "r-1: the first date is wrong"
        alertmanager.post(slower, elsewhere)
        assert inbox.wait_for("AssaySuccessRateBelowBaseline").labels["model"] == "good"
        states = {(each["labels"]["alertname"], each["labels"]["model"]): each for each in alertmanager.alerts()}
        assert states["AssaySuccessRateBelowBaseline", "weak"]["status"]["inhibitedBy"]
        assert not states["AssaySuccessRateBelowBaseline", "good"]["status"]["inhibitedBy"]
        assert not inbox.of("AssaySuccessRateBelowBaseline", model="weak")
        alertmanager.post(drop | {"endsAt": datetime.now(UTC).isoformat()})
        inbox.wait_for("AssayTrustDrop", status="resolved")
