"""Clients start, whatever state they find the brokers in."""

import asyncio
from typing import Any

import pytest
from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.structs import BrokerMetadata

from streams.clients import admin, group_consumer
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.waiting import PATIENCE_SECONDS


async def test_a_broker_that_names_none_as_it_has_just_started_is_asked_again(
    prepared: Place, monkeypatch: pytest.MonkeyPatch
):
    settings = prepared.checked()
    await put(prepared.servers, settings.topics.outputs, [record(1)])
    update, asked = ClusterMetadata.update_metadata, 0

    def late(self: ClusterMetadata, metadata: Any) -> None:
        nonlocal asked
        asked += 1
        # aiokafka passes over an answer without brokers.
        if asked > 6:
            update(self, metadata)

    monkeypatch.setattr(ClusterMetadata, "update_metadata", late)
    consumer = group_consumer(settings, f"{prepared.prefix}.late", RangePartitionAssignor)
    async with consumer:
        # Faust subscribes once it has started.
        consumer.subscribe([settings.topics.outputs])
        message = await asyncio.wait_for(consumer.getone(), PATIENCE_SECONDS)
    assert message.value == record(1)
    asked = 0
    async with admin(settings.kafka) as client:
        assert settings.topics.outputs in await client.list_topics()


async def test_where_a_broker_is_gone_the_next_one_is_asked(prepared: Place, monkeypatch: pytest.MonkeyPatch):
    update = ClusterMetadata.update_metadata

    def with_one_that_is_gone(self: ClusterMetadata, metadata: Any) -> None:
        update(self, metadata)
        self._brokers[99] = BrokerMetadata(99, "127.0.0.1", free_port(), None)

    monkeypatch.setattr(ClusterMetadata, "update_metadata", with_one_that_is_gone)
    settings = prepared.checked()
    async with admin(settings.kafka) as client:
        for _ in range(20):
            assert settings.topics.outputs in await client.list_topics()
