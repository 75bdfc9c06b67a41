"""A record to assay with aiokafka, in asynchronous code: `pip install aiokafka`."""

import asyncio
import json
import os
import uuid
from datetime import UTC, datetime

from aiokafka import AIOKafkaProducer

RECORD = {
    "id": str(uuid.uuid4()),
    "kind": "generation",
    "source": "support-bot",
    "model": "acme-chat-4",
    "occurred_at": datetime.now(UTC).isoformat(),
    "prompt": "When does my order arrive?",
    "response": "It arrives on Wednesday before noon.",
    "contexts": ["Delivery is planned for Thursday 19 November before noon."],
}


async def main() -> None:
    servers = os.environ.get("BOOTSTRAP_SERVERS", "localhost:9092")
    # One producer for the life of the application.
    async with AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True, linger_ms=20) as producer:
        # `send` returns once the record is buffered; await what it returns where the delivery must be known.
        delivered = await producer.send(
            os.environ.get("TOPIC", "assay.outputs"), json.dumps(RECORD).encode(), key=RECORD["id"].encode()
        )
        await delivered


asyncio.run(main())
