"""Three brokers, two of which must have a message: any one may go, however it goes, and what was promised holds."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from streams.clients import admin
from streams.errors import BrokerUnavailable
from streams.settings import StreamSettings
from tests.support.cluster import TOPICS, KafkaCluster, running_cluster
from tests.support.scenarios import Place
from tests.support.storm import Fault, Storm
from tests.support.waiting import until, wait_until

WAYS = ("broker stopped in order", "broker killed", "broker frozen", "broker cut off")


def test_workers_and_monitor_go_on_whichever_way_a_broker_goes_and_every_record_is_accounted_for(tmp_path: Path):
    # Each way on another of the three, one of which leads the cluster; and whoever goes on is killed meanwhile.
    brokers = [Fault(way, 1.0, 8.0, pick) for way, pick in zip(WAYS, (0.0, 0.4, 0.7, 0.0), strict=True)]
    others = [Fault(kind, 0.5, 0.5, 0.9) for kind in ("worker killed", "monitor killed")] * 2
    faults = [fault for pair in zip(brokers, others, strict=True) for fault in pair]
    storm = Storm(tmp_path, faults, rate=80, checker={"type": "accept"}, archives=False)
    ledger = storm.run()
    assert len(storm.done) == len(faults)
    assert ledger.kept, ledger
    assert ledger.trust_counted == ledger.decided > 500
    assert ledger.left_out
    assert ledger.dead_letters
    assert not storm.ended


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaCluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.mark.parametrize("way", ["freeze", "cut_off"])
def test_a_message_counts_as_written_with_one_broker_away_and_not_with_two(
    cluster: KafkaCluster, tmp_path: Path, way: str
):
    place = Place(cluster.bootstrap_servers, way.replace("_", ""), tmp_path)
    raw = place.settings(partitions=3)
    settings = place.prepare(raw | {"topics": raw["topics"] | {"replication": TOPICS["replication"]}})
    assert cluster.wait_whole()
    goes: Callable[[int], None] = getattr(cluster, way)
    try:
        goes(3)
        asyncio.run(_out_of_sync(cluster, _without(cluster, settings, 3), 3))
        # A client that asks the one that is away gives up after its time, and the next one may ask another.
        wait_until(lambda: asyncio.run(_written(_without(cluster, settings, 3))), cluster.condition, seconds=220)
        cluster.kill(2)
        assert not asyncio.run(_written(_without(cluster, settings, 2, 3)))
        cluster.start(2)
    finally:
        cluster.thaw(3)
        cluster.heal()
    assert cluster.wait_whole()
    wait_until(lambda: asyncio.run(_written(settings)), cluster.condition)


def _without(cluster: KafkaCluster, settings: StreamSettings, *away: int) -> StreamSettings:
    """The settings of clients that ask none of these brokers: each question to one takes as long as a client waits."""
    servers = ",".join(broker.bootstrap_servers for node, broker in cluster.brokers.items() if node not in away)
    kafka = settings.kafka.model_copy(update={"bootstrap_servers": servers})
    return settings.model_copy(update={"kafka": kafka})


async def _out_of_sync(cluster: KafkaCluster, settings: StreamSettings, node: int) -> None:
    async def gone() -> bool:
        try:
            async with admin(settings.kafka) as client:
                (topic,) = await client.describe_topics([settings.topics.outputs])
        except BrokerUnavailable:
            # It was the one that is away that was asked.
            return False
        # A broker that does not know the topic says so by no partition.
        known = topic["partitions"]
        return bool(known) and all(node not in (partition["leader"], *partition["isr"]) for partition in known)

    await until(gone, cluster.condition)


async def _written(settings: StreamSettings) -> bool:
    """Whether a message is acknowledged in each partition."""
    producer = AIOKafkaProducer(
        bootstrap_servers=settings.kafka.bootstrap_servers, acks="all", request_timeout_ms=15_000
    )
    try:
        async with producer:
            sent = [await producer.send(settings.topics.outputs, b"{}", partition=number) for number in range(3)]
            done = await asyncio.gather(*sent, return_exceptions=True)
    except KafkaError as error:
        print(f"no producer: {error!r}")
        return False
    assert all(not isinstance(each, BaseException) or isinstance(each, KafkaError) for each in done), done
    return not any(isinstance(each, BaseException) for each in done)
