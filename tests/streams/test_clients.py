"""Clients of Kafka: a consumer that looked for a partition's leader before it changed."""

import asyncio
from typing import Any

from aiokafka import TopicPartition
from aiokafka.errors import NotLeaderForPartitionError
from aiokafka.protocol.offset import OffsetRequest

from streams.clients import single_consumer
from tests.support.scenarios import Place
from tests.support.traffic import put


async def test_where_another_broker_leads_by_now_it_asks_that_one(embedded_place: Place):
    settings = await asyncio.to_thread(embedded_place.prepare, embedded_place.settings())
    topic = settings.topics.outputs
    await put(embedded_place.servers, topic, [b"{}"])
    consumer = single_consumer(settings.kafka, auto_offset_reset="earliest")
    await consumer.start()
    client, known = consumer.client, asyncio.Event()
    await client.set_topics([topic])
    send, update = client.send, client._metadata_update

    async def sent(node: int, request: Any, **more: Any) -> Any:
        if isinstance(request, OffsetRequest) and not known.is_set():
            raise NotLeaderForPartitionError
        return await send(node, request, **more)

    async def updated(*about: Any) -> Any:
        known.set()
        return await update(*about)

    client.send, client._metadata_update = sent, updated
    try:
        consumer.assign([TopicPartition(topic, 0)])
        message = await asyncio.wait_for(consumer.getone(), 10)
    finally:
        await consumer.stop()
    assert message.value == b"{}"
