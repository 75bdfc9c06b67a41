"""A record to assay with confluent-kafka, next to the request that it is about: `pip install confluent-kafka`."""

import json
import os
import sys
import uuid
from datetime import UTC, datetime

from confluent_kafka import Producer

producer = Producer(
    {
        "bootstrap.servers": os.environ.get("BOOTSTRAP_SERVERS", "localhost:9092"),
        "enable.idempotence": True,  # and with it acks=all
        "compression.type": "lz4",
        "linger.ms": 20,
        "delivery.timeout.ms": 60_000,
        "partitioner": "murmur2_random",  # as Java's
    }
)


def told(error: object, message: object) -> None:
    if error is not None:
        print(f"the record was not delivered: {error}", file=sys.stderr)


record = {
    "id": str(uuid.uuid4()),
    "kind": "generation",
    "source": "support-bot",
    "model": "acme-chat-4",
    "session": "chat-81",
    "occurred_at": datetime.now(UTC).isoformat(),
    "prompt": "When does my order arrive?",
    "response": "It arrives on Wednesday before noon.",
    "contexts": ["Delivery is planned for Thursday 19 November before noon."],
}
# Returns at once; what the broker says is told by `told`.
producer.produce(os.environ.get("TOPIC", "assay.outputs"), json.dumps(record), key=record["session"], on_delivery=told)
producer.flush()
