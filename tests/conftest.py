"""Brokers for every test that needs one: a real Apache Kafka, and the embedded one."""

import logging
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from streams.embedded import EmbeddedBroker
from tests.support.kafka import ADDRESS_VARIABLE, KafkaBroker, running_kafka
from tests.support.scenarios import Place

# While a broker is away its clients say so many times a second.
logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Take back what a command run in this process did to the logs, which the next test may look at."""
    root, chatty = logging.getLogger(), {}
    for name in ("faust", "mode", "aiokafka", "httpx", "streams.faust_app"):
        chatty[name] = logging.getLogger(name).level
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in chatty.items():
        logging.getLogger(name).setLevel(before)


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """The address of an Apache Kafka: the one that `ASSAY_TEST_KAFKA` names, else one of our own."""
    given = os.environ.get(ADDRESS_VARIABLE)
    if given:
        yield given
        return
    with running_kafka() as broker:
        yield broker.bootstrap_servers


@pytest.fixture
def own_kafka() -> Iterator[KafkaBroker]:
    """A broker of the test's own, that it may stop, kill and start."""
    with running_kafka() as broker:
        yield broker


@pytest.fixture
def place(kafka: str, tmp_path: Path) -> Place:
    """Topics of the test's own on Apache Kafka."""
    return Place(kafka, _prefix(), tmp_path)


@pytest.fixture(scope="session")
def embedded() -> Iterator[EmbeddedBroker]:
    """An embedded broker."""
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def embedded_place(embedded: EmbeddedBroker, tmp_path: Path) -> Place:
    """Topics of the test's own on the embedded broker."""
    place = Place(embedded.bootstrap_servers, _prefix(), tmp_path)
    embedded.create_topics(place.checked().topics.all)
    return place


def _prefix() -> str:
    return f"t{uuid.uuid4().hex[:10]}"
