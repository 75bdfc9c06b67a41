"""A source of records that only counts, and reads back what it made."""

import asyncio

from models.protocol import ModelUnavailable
from models.work import book
from schemas import Generation, Usage
from streams.settings import StreamSettings
from tests.support.trust_verdicts import read_all
from tests.support.waiting import until


class Counting:
    """Its records say whose they are and which number they have."""

    name = "counting"

    def __init__(self, models: tuple[str, ...] = ("m",), seconds_between: float = 0.01) -> None:
        self.models = models
        self.seconds_between = seconds_between
        self.asked: list[tuple[str, int]] = []
        self.away = 0
        """So many questions more find the subject away."""
        self.answers = asyncio.Event()
        """Cleared while the subject takes its time."""
        self.answers.set()

    async def record(self, model: str, number: int, id_: str) -> Generation:
        self.asked.append((model, number))
        book(Usage(calls=1))
        if self.away:
            self.away -= 1
            raise ModelUnavailable("away", retry_after=0.01)
        await self.answers.wait()
        return Generation(kind="generation", id=id_, source=self.name, model=model, response=f"{model} {number}")


async def made(settings: StreamSettings, at_least: int) -> list[Generation]:
    """All records on the outputs topic, once there are so many."""

    async def enough() -> list[Generation] | None:
        found = await read_all(settings.kafka.bootstrap_servers, settings.topics.outputs)
        return [Generation.model_validate_json(each.value) for each in found] if len(found) >= at_least else None

    return await until(enough)
