"""The embedded broker: librdkafka's in-process mock cluster. Real Kafka protocol on loopback, in memory only."""

from collections.abc import Iterable
from typing import Any, Self

from streams.errors import ExtraMissing, StreamError

_START_SECONDS = 10.0


class EmbeddedBroker:
    """A separate broker for as long as the context lasts; for trying out and for tests.

    It keeps at most 5 MB or 100,000 messages a partition, and takes about a session timeout for a worker to join.
    """

    def __init__(self, topics: Iterable[str] = ()) -> None:
        """`topics` are created at the start."""
        self._topics = tuple(topics)
        self._owner: Any = None
        self.bootstrap_servers = ""

    def create_topics(self, topics: Iterable[str]) -> None:
        """Create topics. The mock cluster has no request for that: it creates what it is asked about."""
        for topic in topics:
            self._owner.list_topics(topic, timeout=_START_SECONDS)

    def __enter__(self) -> Self:
        """Start it."""
        try:
            from confluent_kafka import KafkaException, Producer
        except ImportError as error:
            raise ExtraMissing(
                "the embedded broker needs confluent-kafka; install it with `pip install 'assay[embedded]'`"
            ) from error
        # The address given is not used: the mock cluster replaces it with its own.
        self._owner = Producer({"bootstrap.servers": "127.0.0.1:1", "test.mock.num.brokers": 1, "log_level": 0})
        try:
            brokers = self._owner.list_topics(timeout=_START_SECONDS).brokers.values()
        except KafkaException as error:
            raise StreamError("the embedded broker did not start") from error
        self.bootstrap_servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
        self.create_topics(self._topics)
        return self

    def __exit__(self, *_: object) -> None:
        # The cluster lives as long as the client that made it.
        self._owner = None
