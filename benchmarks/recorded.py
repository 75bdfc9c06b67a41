"""Recorded responses as records on Kafka, and the verdicts on them."""

from typing import Any

import orjson

from benchmarks.datasets import Example
from streams.settings import TopicSettings
from tests.support.traffic import messages_until

DONE_SECONDS = 1500.0
"""All of them are judged within that time, unless something is wrong."""


def as_record(example: Example, id_: str, *, source: str, model: str) -> bytes:
    """An application's output as it is on the topic."""
    return orjson.dumps(
        {
            "id": id_,
            "kind": "generation",
            "source": source,
            "model": model,
            "task": example.task,
            "reference": example.references[0],
            "response": example.response,
        }
    )


async def verdicts(servers: str, topics: TopicSettings, count: int) -> dict[str, dict[str, Any]]:
    """The verdicts on so many records, by record; all are on their topics."""
    found: dict[str, dict[str, Any]] = {}
    places = (topics.accepted, topics.rejected, topics.abstained)
    async for message in messages_until(servers, places, lambda: len(found) >= count):
        verdict = orjson.loads(message.value)
        found[verdict["record_id"]] = verdict
    return found
