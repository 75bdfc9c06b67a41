"""The purpose of the service: a model gets worse, and somebody is told with the rejected records in hand.

Real all the way: Kafka, a worker with the local judge, Prometheus, Alertmanager and whoever Alertmanager tells.
"""

import asyncio
import time
from pathlib import Path

from streams.settings import KafkaSettings, StreamSettings, TopicSettings
from streams.topics import create_topics
from tests.support.service import running_service
from tests.support.traffic import put
from tests.system.monitoring import receiving_alerts, running_alertmanager, running_prometheus

EXAMPLES = Path(__file__).parents[2] / "examples" / "model_update.jsonl"
BEFORE = 150
"""Records before the update."""


def test_nothing_fires_while_a_model_is_good_and_its_update_pages_with_the_rejected_records(kafka: str, tmp_path: Path):
    topics = TopicSettings(prefix=f"update-{time.monotonic_ns()}")
    asyncio.run(create_topics(StreamSettings(kafka=KafkaSettings(bootstrap_servers=kafka), topics=topics)))
    records = EXAMPLES.read_bytes().splitlines()
    with (
        receiving_alerts() as inbox,
        running_alertmanager(tmp_path, inbox.url) as alertmanager,
        running_service(kafka, topics.prefix, ASSAY_ALERTMANAGER__URLS=f'["{alertmanager.url}"]') as service,
        running_prometheus(tmp_path, [f"127.0.0.1:{service.port}"], alertmanager) as prometheus,
    ):
        asyncio.run(put(kafka, topics.outputs, records[:BEFORE]))
        service.wait_for("assay_verdicts_total", BEFORE)
        prometheus.wait_for('sum(assay_verdicts_total{outcome="accept"}) > 100')
        assert not inbox.of("AssayTrustDrop")

        asyncio.run(put(kafka, topics.outputs, records[BEFORE:]))
        alert = inbox.wait_for("AssayTrustDrop", source="orders-bot", model="acme-chat-4", checker="consistency")
        assert alert.receiver == "pager"
        told = [line.partition(":")[0] for line in alert.annotations["rejected"].splitlines()]
        assert told
        # The alert is of what came after the update. Its beginning is estimated, and verdicts pass one another: the
        # latest mistake before it may count to it.
        assert sum(int(record.removeprefix("orders-")) <= BEFORE for record in told) <= 1 < len(told)
        assert prometheus.wait_for("assay_trust_dropped == 1")[0][0]["source"] == "orders-bot"
        assert len({each.annotations["alert_id"] for each in inbox.of("AssayTrustDrop")}) == 1

        # The figures of the hour are what was sent, though some was counted before the first scrape.
        service.wait_for("assay_verdicts_total", len(records))
        prometheus.wait_for(f"sum(assay_verdicts_total) == {len(records)}")
        assert prometheus.wait_for(f"subject:assay_verdicts:increase1h == {len(records)}")
        accepted = 'sum(assay_verdicts_total{outcome="accept"}) / sum(assay_verdicts_total{outcome!="abstain"})'
        assert prometheus.query("subject:assay_success:ratio_rate1h")[0][1] == prometheus.query(accepted)[0][1]
