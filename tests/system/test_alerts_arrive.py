"""Kafka goes away, or trust drops, and somebody is told: Prometheus, Alertmanager and receiver, all real."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas import to_json
from tests.support.kafka import KafkaBroker
from tests.support.rejections import alert
from tests.support.scenarios import Place
from tests.support.traffic import put
from tests.support.waiting import wait_until
from tests.system.monitoring import receiving_alerts, running_alertmanager, running_prometheus


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
