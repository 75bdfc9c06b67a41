"""Killed workers, a broker that goes away, and rubbish on the topic, on Apache Kafka."""

from unittest.mock import Mock

import pytest
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.metadata import MetadataRequest

from tests.support.kafka import KafkaBroker
from tests.support.scenarios import Place, kill_often, one_of_two_killed, outage, rubbish


def test_kill_9_at_random_moments_loses_nothing_and_repeats_carry_the_same_id(place: Place):
    found = kill_often(place, records=1250, malformed=50, kills=5)
    assert found.lost == 0, found.row
    assert not found.seen.clashes
    assert len(found.seen.letters) == 50
    # But for what was on its way to the broker.
    assert found.seen.repeats + found.seen.letter_messages - 50 <= 10, found.row
    assert found.notes["exit status"] == 0


def test_a_worker_outlives_its_broker_stopped_and_killed(own_kafka: KafkaBroker, tmp_path):
    found = outage(Place(own_kafka.bootstrap_servers, "outage", tmp_path), own_kafka, records=500, seconds=3)
    logs = (tmp_path / "worker.log", own_kafka.folder / "broker.log")
    assert found.lost == 0, "\n".join([str(found.row), *(log.read_text()[-5000:] for log in logs)])
    assert found.notes["worker lived"], found.row
    assert not found.seen.clashes
    assert not found.seen.letters


async def test_a_connection_that_was_reset_a_moment_ago_is_an_error_that_clients_expect():
    connection = AIOKafkaConnection("localhost", 9092)
    # As uvloop has it.
    connection._writer = Mock(write=Mock(side_effect=RuntimeError("the handler is closed")))
    connection._versions = {MetadataRequest.API_KEY: (0, 1)}
    with pytest.raises(KafkaConnectionError, match="the handler is closed"):
        connection.send(MetadataRequest([]))


def test_a_worker_takes_over_from_one_that_was_killed(place: Place):
    found = one_of_two_killed(place, records=800)
    assert found.lost == 0, found.row
    assert not found.seen.clashes
    assert not found.seen.letters


def test_malformed_messages_are_dead_letters_each_and_good_ones_among_them_are_judged(place: Place):
    found = rubbish(place, malformed=1200, good=500, huge=6)
    assert found.lost == 0, found.row
    assert len(found.seen.letters) == 1200
    assert found.notes["reasons"] >= 9
    assert found.notes["worker lived"], found.row
    assert found.notes["grew by (MB)"] < 250, found.row
