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
    await put(embedded_place.servers, settings.topics.outputs, [b"{}"])
    async with single_consumer(settings.kafka, auto_offset_reset="earliest") as consumer:
        client, known = consumer.client, asyncio.Event()
        await client.set_topics([settings.topics.outputs])
        send, update = client.send, client._metadata_update

        async def sent(node: int, request: Any, **more: Any) -> Any:
            if isinstance(request, OffsetRequest) and not known.is_set():
                raise NotLeaderForPartitionError
            return await send(node, request, **more)

        async def updated(*about: Any) -> Any:
            known.set()
            return await update(*about)

        client.send, client._metadata_update = sent, updated
        consumer.assign([TopicPartition(settings.topics.outputs, 0)])
        assert (await asyncio.wait_for(consumer.getone(), 10)).value == b"{}"
