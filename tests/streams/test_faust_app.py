"""The lag of a consumer group on Faust."""

from types import SimpleNamespace

import pytest
from aiokafka import AIOKafkaConsumer
from faust.types import TP

from streams.faust_app import GroupApp
from streams.settings import StreamSettings


async def test_a_partition_that_a_rebalance_takes_away_meanwhile_has_no_lag(monkeypatch: pytest.MonkeyPatch):
    async def drained() -> None:
        pass

    app = GroupApp("group", StreamSettings(), drain=drained, on_fatal=lambda error: None)
    # Its thread answers the first question before the rebalance, and the second one after it.
    client = AIOKafkaConsumer()
    consumer = SimpleNamespace(
        assignment=lambda: {TP("topic", 0)}, highwater=client.highwater, _committed_offset={TP("topic", 0): None}
    )
    monkeypatch.setattr(GroupApp, "consumer", consumer)
    assert app.lag() == 0
