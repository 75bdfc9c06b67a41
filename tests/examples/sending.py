"""The example producers, run as their users would."""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from schemas import Generation, read_record
from streams.topic_reader import read_topic
from tests.support.scenarios import Place

PRODUCERS = Path(__file__).parents[2] / "examples" / "producers"


def sent_record(place: Place, command: Sequence[str | Path]) -> tuple[Generation, str]:
    """The one record that the command has put onto the outputs topic, and its key."""
    settings = place.checked()
    variables = {"BOOTSTRAP_SERVERS": place.servers, "TOPIC": settings.topics.outputs}
    ran = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (message,) = asyncio.run(_messages(place))
    record = read_record(message.value, max_bytes=10_000)
    assert isinstance(record, Generation)
    assert not record.misspelt
    return record, message.key.decode()


async def _messages(place: Place) -> list[object]:
    settings = place.checked()
    return [message async for message in read_topic(settings.kafka, settings.topics.outputs)]
