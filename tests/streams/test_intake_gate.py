"""Holding records while the judge is down."""

import asyncio

from streams.intake_gate import IntakeGate


async def test_one_held_record_is_tried_after_the_time_and_its_success_lets_all_go():
    changes: list[bool] = []
    gate = IntakeGate(changes.append)
    holders = [asyncio.create_task(gate.hold(0.05, was_trial=False)) for _ in range(3)]
    passing = asyncio.create_task(gate.passed())
    await asyncio.sleep(0.02)
    assert gate.closed
    assert gate.held == 3
    await asyncio.sleep(0.08)
    assert [holder.done() for holder in holders] == [True, False, False]
    assert holders[0].result() is True
    assert not passing.done()
    gate.open()
    assert await asyncio.gather(*holders[1:], passing) == [False, False, None]
    assert changes == [True, False]


async def test_a_failed_trial_waits_again_and_the_next_one_is_tried():
    gate = IntakeGate(lambda _: None)
    first = asyncio.create_task(gate.hold(0.05, was_trial=False))
    second = asyncio.create_task(gate.hold(0.05, was_trial=False))
    assert await first
    again = asyncio.create_task(gate.hold(0.05, was_trial=True))
    assert await asyncio.wait_for(second, 1)
    assert not again.done()
    gate.open()
    assert not await again


async def test_a_cancelled_trial_hands_its_turn_on():
    gate = IntakeGate(lambda _: None)
    first = asyncio.create_task(gate.hold(0.05, was_trial=False))
    second = asyncio.create_task(gate.hold(0.05, was_trial=False))
    await asyncio.sleep(0.01)
    first.cancel()
    assert await asyncio.wait_for(second, 1)


async def test_when_all_held_are_gone_the_gate_opens():
    gate = IntakeGate(lambda _: None)
    only = asyncio.create_task(gate.hold(0.05, was_trial=False))
    await asyncio.sleep(0.01)
    only.cancel()
    await asyncio.wait_for(gate.passed(), 1)


async def test_a_handler_that_asks_to_be_tried_at_once_waits_all_the_same():
    gate = IntakeGate(lambda _: None)
    begun = asyncio.get_running_loop().time()
    assert await gate.hold(0, was_trial=False)
    assert asyncio.get_running_loop().time() - begun >= 0.04
