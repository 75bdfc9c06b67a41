"""Messages are put together by partition, and each is answered for itself."""

import asyncio
from collections import defaultdict
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError, MessageSizeTooLargeError
from aiokafka.producer.message_accumulator import BatchBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.batches import BATCH_BYTES, MESSAGE_BYTES, Batches
from streams.messages import Outgoing


class Client:
    """In the place of aiokafka's producer: takes a batch after a turn of the loop, and answers it after another."""

    def __init__(self) -> None:
        self.taken: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.fails: Exception | None = None

    def create_batch(self) -> BatchBuilder:
        return BatchBuilder(BATCH_BYTES, 0)

    async def send_batch(self, batch: BatchBuilder, topic: str, *, partition: int) -> asyncio.Future[Any]:
        await asyncio.sleep(0)
        if self.fails is not None:
            raise self.fails
        batches = self.taken[topic, partition]
        answer = asyncio.get_running_loop().create_future()
        answer.set_result(SimpleNamespace(offset=sum(batches)))
        batches.append(batch.record_count())
        return answer


def message(size: int) -> Outgoing:
    return Outgoing("topic", None, bytes(size), [])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([1, 100, 100_000, 300_000])), max_size=60))
def test_each_is_answered_once_with_its_own_offset_in_the_order_of_its_partition(sent: list[tuple[int, int]]):
    client, answers = Client(), defaultdict[int, list[int]](list)

    async def main() -> None:
        batches = Batches(client)  # type: ignore[arg-type]
        for partition, size in sent:
            of_it = answers[partition]
            await batches.put(message(size), partition, lambda _, offset, of_it=of_it: of_it.append(offset))
        await batches.flush()
        await asyncio.sleep(0.01)

    asyncio.run(main())
    for partition, offsets in answers.items():
        assert offsets == list(range(sum(each == partition for each, _ in sent)))
        assert sum(client.taken["topic", partition]) == len(offsets)


async def test_who_waits_for_room_is_not_overtaken():
    client, told = Client(), dict[int, int]()
    batches = Batches(client)  # type: ignore[arg-type]
    waiting = []
    for number in range(200):
        answered = partial(lambda number, _, offset: told.setdefault(number, offset), number)
        waiting.append(asyncio.create_task(batches.put(message(90_000), 0, answered)))
        if number % 5 == 0:
            await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    await batches.flush()
    await asyncio.sleep(0.01)
    assert told == {number: number for number in range(200)}
    assert max(client.taken["topic", 0]) * 90_000 <= BATCH_BYTES


async def test_one_that_is_too_long_is_refused_and_leaves_the_others_alone():
    client, told = Client(), list[int]()
    batches = Batches(client)  # type: ignore[arg-type]
    await batches.put(message(10), 0, lambda _, offset: told.append(offset))
    with pytest.raises(MessageSizeTooLargeError):
        await batches.put(message(MESSAGE_BYTES), 0, lambda *_: told.append(-7))
    await batches.put(message(10), 0, lambda _, offset: told.append(offset))
    await batches.flush()
    await asyncio.sleep(0.01)
    assert told == [0, 1]


async def test_a_batch_that_the_client_does_not_take_is_told_to_all_in_it_though_one_of_them_fails_at_that():
    client, told = Client(), list[Exception | None]()
    client.fails = KafkaTimeoutError()
    batches = Batches(client)  # type: ignore[arg-type]
    met: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: met.append(context["exception"]))

    def fails(fault: Exception | None, _: int) -> None:
        raise ZeroDivisionError

    for answered in (fails, lambda fault, _: told.append(fault)):
        await batches.put(message(10), 0, answered)
    await batches.flush()
    await asyncio.sleep(0.01)
    assert told == [client.fails]
    assert [type(each) for each in met] == [ZeroDivisionError]
