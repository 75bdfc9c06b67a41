"""aiokafka alone, with the reads, writes and commits of a worker; the yardstick of `cost`. It looks at no record."""

import asyncio
import json
import sys
import time
from typing import Any

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

_COMMIT_SECONDS = 0.5


async def main(spec: dict[str, Any]) -> None:
    """Answer `share` of the records of a topic with the same two messages each."""
    group = {"group_id": spec["group"], "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = AIOKafkaConsumer(spec["source"], bootstrap_servers=spec["servers"], fetch_max_wait_ms=50, **group)
    producer = AIOKafkaProducer(
        bootstrap_servers=spec["servers"], acks="all", enable_idempotence=True, linger_ms=5, max_batch_size=262_144
    )
    share, topics = spec["share"], (spec["verdicts"], spec["outcomes"])
    key, values = b"tests\x1fm", (b"v" * spec["verdict_bytes"], b"o" * spec["outcome_bytes"])
    headers = [(f"header-{number}", b"x" * 20) for number in range(11)]
    async with consumer, producer:
        waiting: list[asyncio.Future[Any]] = []
        committed_at = 0.0
        while True:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    if record.offset % 1000 < 1000 * share:
                        waiting.append(await producer.send(topics[0], values[0], key=key, headers=headers))
                        waiting.append(await producer.send(topics[1], values[1], key=key))
            if time.monotonic() - committed_at >= _COMMIT_SECONDS:
                await asyncio.gather(*waiting)
                waiting.clear()
                await consumer.commit()
                committed_at = time.monotonic()


if __name__ == "__main__":
    uvloop.run(main(json.loads(sys.argv[1])))
