"""As many records are under way as their models can take."""

import asyncio
from collections.abc import Callable

import pytest

from streams.slots import Slot, Slots
from tests.support.waiting import until

MOST = 128


async def _fill(slots: Slots, begun: Callable[[Slot], None]) -> None:
    """Begin records without end."""
    while True:
        await slots.acquire()
        begun(Slot(slots))


async def test_where_nothing_queues_all_slots_are_used_soon() -> None:
    slots, found = Slots(MOST), list[Slot]()
    filling = asyncio.create_task(_fill(slots, found.append))
    await until(slots.locked)
    await asyncio.sleep(0.05)
    assert len(found) == MOST
    filling.cancel()


async def test_so_they_are_where_records_end_all_the_time() -> None:
    slots, most = Slots(MOST), 0
    loop = asyncio.get_running_loop()

    def begun(slot: Slot) -> None:
        nonlocal most
        most = max(most, slots.under_way)
        loop.call_later(0.005, slot.end)

    filling = asyncio.create_task(_fill(slots, begun))
    await until(lambda: most == MOST)
    filling.cancel()


@pytest.mark.parametrize("worked_on", [0, 1, 40])
async def test_few_records_queue_for_a_model_and_never_none(worked_on: int) -> None:
    slots, found, queueing = Slots(MOST), list[Slot](), list[Slot]()

    def begun(slot: Slot) -> None:
        found.append(slot)
        if len(found) > worked_on:
            slot.queue(True)
            queueing.append(slot)

    filling = asyncio.create_task(_fill(slots, begun))
    await until(lambda: len(queueing) >= 8)
    # The model takes one after the other; for each, another one is begun.
    for _ in range(3 * MOST):
        one = queueing.pop(0)
        one.queue(False)
        one.end()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert 8 <= len(queueing) <= 32
    assert slots.under_way == worked_on + len(queueing)
    filling.cancel()


async def test_a_slot_that_is_given_up_is_somebody_elses_and_memory_is_bounded() -> None:
    slots, found = Slots(2), list[Slot]()

    def begun(slot: Slot) -> None:
        found.append(slot)
        slot.give_up()

    filling = asyncio.create_task(_fill(slots, begun))
    await until(slots.locked)
    assert len(found) == 16 * 2 + 1
    found[-1].end()
    await until(lambda: len(found) == 16 * 2 + 2)
    filling.cancel()
