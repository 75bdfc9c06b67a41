"""Whether any Kafka broker answers, and since when none does."""

import asyncio
import random
import time
from datetime import UTC, datetime
from typing import Protocol

from aiokafka.client import AIOKafkaClient, ConnectionGroup
from aiokafka.errors import KafkaError
from aiokafka.protocol.metadata import MetadataRequest

from streams.clients import why_no_answer
from streams.errors import StreamError
from streams.settings import KafkaSettings

_ASK_SECONDS = 3.0
"""Between two questions: of a hundred bytes, to one broker."""

_UNANSWERED = 3
"""Questions in a row without an answer before the brokers count as away: some ten seconds. Counted, not timed: a busy
machine may come to an answer late."""

_REPORT_SECONDS = 60.0


class Report(Protocol):
    """Takes what a person should know, as a method of a structlog logger does."""

    def __call__(self, event: str, *, servers: str, since: str, why: str | None = None) -> object: ...


class BrokerWatch:
    """Asks the brokers at intervals; reports when none answers, then every minute, and when one answers again.

    Other requests show it too late: each waits for a minute, and those of a consumer are repeated for ever.
    """

    def __init__(self, kafka: KafkaSettings, report: Report) -> None:
        """`report` is called with the event, the brokers' addresses, when one answered last, and why none does."""
        self._kafka = kafka
        self._servers = kafka.bootstrap_servers
        self._report = report
        self._asked: set[int] = set()
        self._unanswered = 0
        self._away_since: float | None = None
        self._reported_at = 0.0
        self.last_answer = time.time()
        """Time of the last answer, in seconds since 1970."""

    @property
    def fault(self) -> str | None:
        """Which brokers do not answer and since when; None while one does."""
        return f"no answer from {self._servers} since {_shown(self.last_answer)}" if self._away else None

    @property
    def _away(self) -> bool:
        return self._unanswered > _UNANSWERED

    async def run(self, client: AIOKafkaClient) -> None:
        """Ask by way of `client`, which is started, until cancelled."""
        self._heard()
        async with asyncio.TaskGroup() as group:
            while True:
                self._unanswered += 1
                if self._due_to_report():
                    group.create_task(self._report_why())
                # Not awaited: a broker that takes a question and is silent keeps it for a minute; others may answer.
                group.create_task(self._ask(client))
                await asyncio.sleep(_ASK_SECONDS)

    async def _ask(self, client: AIOKafkaClient) -> None:
        nodes = [broker.nodeId for broker in client.cluster.brokers() if broker.nodeId not in self._asked]
        for node in random.sample(nodes, len(nodes)):
            self._asked.add(node)
            try:
                # On a separate connection: behind a verdict that waits for replicas nothing is answered.
                await client.send(node, MetadataRequest([]), group=ConnectionGroup.COORDINATION)
            except KafkaError:
                continue
            finally:
                self._asked.discard(node)
            self._heard()
            return

    def _heard(self) -> None:
        self._unanswered = 0
        self.last_answer = time.time()
        if self._away_since is not None:
            self._report("Kafka answers again", servers=self._servers, since=_shown(self._away_since))
            self._away_since = None

    def _due_to_report(self) -> bool:
        if not self._away:
            return False
        now = time.monotonic()
        if self._away_since is not None and now - self._reported_at < _REPORT_SECONDS:
            return False
        self._away_since, self._reported_at = self.last_answer, now
        return True

    async def _report_why(self) -> None:
        try:
            why = await why_no_answer(self._kafka)
        except StreamError as error:
            why = str(error)
        if self._away_since is not None:
            self._report("Kafka does not answer", servers=self._servers, since=_shown(self._away_since), why=why)


def _shown(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
