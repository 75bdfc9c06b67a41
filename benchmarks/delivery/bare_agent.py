"""Faust alone, with one topic in and one topic out; the yardstick of `throughput`."""

import asyncio
import json
import sys
from typing import Any

import faust
import uvloop

from schemas import Generation, to_json
from streams.messages import verdict_message
from streams.settings import TopicSettings
from tests.support.checkers import Accept


async def main(spec: dict[str, str]) -> None:
    """Answer each message with the same verdict, as fast as Faust goes."""
    verdict = await Accept().check(Generation(kind="generation", source="tests", model="m", response="x"))
    message = verdict_message(verdict, TopicSettings())
    key, value, headers = message.key, to_json(verdict), dict(message.headers)
    app = faust.App(
        spec["group"],
        broker=f"kafka://{spec['servers']}",
        store="memory://",
        datadir="/tmp/assay-bare-agent",  # noqa: S108 - Faust makes it; nothing is written there
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        autodiscover=False,
    )
    raw: dict[str, Any] = {"key_type": bytes, "value_type": bytes, "key_serializer": "raw", "value_serializer": "raw"}
    source, target = app.topic(spec["source"], **raw), app.topic(spec["target"], **raw)

    async def answer(stream: faust.StreamT[bytes]) -> None:
        async for _ in stream:
            await target.send(key=key, value=value, headers=headers)

    app.agent(source)(answer)
    await app.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(json.loads(sys.argv[1])))
