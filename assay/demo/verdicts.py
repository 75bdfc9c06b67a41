"""What the worker puts onto its topics, as it arrives."""

import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any, Self

from schemas import DeadLetter, Verdict
from streams.clients import reader
from streams.settings import StreamSettings


class Arrivals:
    """Reads verdicts and dead letters from the beginning on."""

    def __init__(self, settings: StreamSettings) -> None:
        topics = settings.topics
        self._settings = settings
        self._forms: dict[str, type[Verdict | DeadLetter]] = {
            topics.accepted: Verdict,
            topics.rejected: Verdict,
            topics.abstained: Verdict,
            topics.dead_letter: DeadLetter,
        }
        self._stack = AsyncExitStack()
        self._consumer: Any = None

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            BrokerUnavailable: no broker answered.
        """
        self._consumer = await self._stack.enter_async_context(reader(self._settings.kafka))
        self._consumer.subscribe(list(self._forms))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Disconnect."""
        await self._stack.aclose()

    async def until_silent(self, seconds: float) -> AsyncGenerator[Verdict | DeadLetter]:
        """What arrives, until nothing has for so many seconds."""
        last = time.monotonic()
        while time.monotonic() - last < seconds:
            for partition, messages in (await self._consumer.getmany(timeout_ms=250)).items():
                last = time.monotonic()
                form = self._forms[partition.topic]
                for message in messages:
                    yield form.model_validate_json(message.value)
