"""What holds a message back and what lets it go; nothing is acknowledged before what stands in front of it."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.admission import AckWindow, Gate, Slot, Slots, Trial
from tests.streams.virtual_time import virtually
from tests.support.waiting import until

MOST = 128


def held(gate: Gate, *, trial: Trial | None = None) -> asyncio.Task[Trial | None]:
    return asyncio.create_task(gate.hold(5.0, trial=trial))


@virtually
async def test_one_held_record_is_tried_after_the_time_and_its_success_lets_all_go() -> None:
    changes: list[bool] = []
    gate = Gate(changes.append)
    holders = [held(gate) for _ in range(3)]
    passing = asyncio.create_task(gate.passed())
    await asyncio.sleep(4.9)
    assert gate.closed
    assert gate.held == 3
    await asyncio.sleep(1)
    assert [holder.done() for holder in holders] == [True, False, False]
    assert not passing.done()
    gate.passed_trial(holders[0].result())
    assert await asyncio.gather(*holders[1:], passing) == [None] * 3
    assert changes == [True, False]


@virtually
async def test_a_trial_that_takes_long_lets_all_go() -> None:
    changes: list[bool] = []
    gate = Gate(changes.append)
    long_one, other = held(gate), held(gate)
    trial = await long_one
    assert not await other
    assert changes == [True, False]
    # What becomes of it then is no news of those that are held since.
    others = [held(gate) for _ in range(2)]
    await asyncio.sleep(1)
    gate.passed_trial(trial)
    assert gate.closed
    second = await others[0]
    again = held(gate, trial=trial)
    await asyncio.sleep(1)
    gate.passed_trial(second)
    assert await asyncio.gather(others[1], again) == [None] * 2
    assert changes == [True, False, True, False]
    assert asyncio.get_running_loop().time() == 16


@virtually
async def test_after_all_held_records_failed_a_new_one_is_tried() -> None:
    gate = Gate(lambda _: None)
    poison, other = held(gate), held(gate)
    new = asyncio.create_task(gate.passed())
    poison = held(gate, trial=await poison)
    other = held(gate, trial=await other)
    trial = await new
    assert trial
    assert not poison.done()
    assert not other.done()
    again = held(gate, trial=trial)
    assert await poison, "and the next is one of those held before"
    assert not again.done()
    gate.open()
    assert await asyncio.gather(other, again) == [None] * 2


@virtually
async def test_what_lets_others_pass_is_held_and_is_tried_one_at_a_time() -> None:
    changes: list[bool] = []
    gate = Gate(changes.append)
    holders = [asyncio.create_task(gate.hold(5.0, others_pass=True, trial=None)) for _ in range(3)]
    await asyncio.sleep(1)
    assert await gate.passed() is None
    trial = await holders[0]
    assert not any(holder.done() for holder in holders[1:])
    gate.passed_trial(trial)
    assert await asyncio.gather(*holders[1:]) == [None] * 2
    assert changes == []
    assert asyncio.get_running_loop().time() == 5


@virtually
async def test_a_record_that_may_be_to_blame_closes_the_gate_only_where_none_is_answered_between() -> None:
    gate = Gate(lambda _: None)
    trial = None
    for _ in range(20):
        trial = await gate.hold(1.0, suspect=True, trial=trial)
        gate.answer()
    assert not gate.closed
    for _ in range(2):
        trial = await gate.hold(1.0, suspect=True, trial=trial)
    assert not gate.closed
    again = asyncio.create_task(gate.hold(1.0, suspect=True, trial=trial))
    await asyncio.sleep(0.5)
    assert gate.closed
    new = asyncio.create_task(gate.passed())
    await asyncio.sleep(0.1)
    assert not new.done()
    again.cancel()


async def _fill(slots: Slots, begun: Callable[[Slot], None]) -> None:
    """Begin records without end."""
    while True:
        await slots.acquire()
        begun(Slot(slots))


async def test_where_nothing_queues_all_slots_are_used_soon() -> None:
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


@virtually
async def test_a_message_is_given_up_only_while_others_are_answered_and_after_the_configured_time() -> None:
    slot, patient = Slot(Slots(1)), Slot(Slots(1))
    assert not any(slot.patience_ends(0, answered=7) for _ in range(100))
    assert [slot.patience_ends(0, each) for each in (8, 8, 9, 9, 10)] == [False, False, False, False, True]
    assert not any(patient.patience_ends(3600, each) for each in range(100))


@given(st.data())
def test_whatever_the_order_of_finishing_what_is_acknowledged_is_a_prefix(data):
    passed_over = data.draw(st.lists(st.booleans(), min_size=1, max_size=14))
    order = data.draw(st.permutations([offset for offset, passed in enumerate(passed_over) if not passed]))
    window, places, low = AckWindow(14), {}, 0
    for offset, passed in enumerate(passed_over):
        if not passed:
            places[offset] = window.enter(("p", 1), offset)
        elif window.pass_over(("p", 1), offset):
            low = offset + 1
    for finished, offset in enumerate(order):
        last = window.finish(places[offset])
        low = low if last is None else last + 1
        assert low == min([len(passed_over), *order[finished + 1 :]])
    assert window.first(("p", 1)) is None


async def test_a_full_window_waits_for_its_oldest():
    window = AckWindow(2)
    first, second = window.enter(("p", 1), 0), window.enter(("p", 1), 1)
    waiting = asyncio.create_task(window.room(("p", 1)))
    assert window.finish(second) is None
    await asyncio.sleep(0)
    assert not waiting.done()
    assert window.finish(first) == 1
    await waiting


@pytest.mark.parametrize("generation", [1, 2])
def test_what_finishes_after_its_partition_was_handed_over_acknowledges_nothing(generation):
    window = AckWindow(5)
    old = window.enter(("p", 1), 3)
    window.clear()
    new = window.enter(("p", generation), 3)
    assert window.finish(old) is None
    assert window.finish(new) == 3
