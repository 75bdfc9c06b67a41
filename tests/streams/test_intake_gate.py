"""Holding records while the judge is down, by the event loop's own clock."""

import asyncio

from streams.intake_gate import IntakeGate
from tests.support.virtual_time import run_virtually


def held(gate: IntakeGate, *, was_trial: bool = False) -> asyncio.Task[bool]:
    return asyncio.create_task(gate.hold(5.0, was_trial=was_trial))


def test_one_held_record_is_tried_after_the_time_and_its_success_lets_all_go():
    async def run() -> None:
        changes: list[bool] = []
        gate = IntakeGate(changes.append)
        holders = [held(gate) for _ in range(3)]
        passing = asyncio.create_task(gate.passed())
        await asyncio.sleep(4.9)
        assert gate.closed
        assert gate.held == 3
        await asyncio.sleep(100)
        assert [holder.done() for holder in holders] == [True, False, False]
        assert holders[0].result() is True
        assert not passing.done()
        gate.open()
        assert await asyncio.gather(*holders[1:], passing) == [False, False, None]
        assert changes == [True, False]

    run_virtually(run)


def test_a_failed_trial_waits_again_and_the_next_one_is_tried():
    async def run() -> None:
        gate = IntakeGate(lambda _: None)
        first, second = held(gate), held(gate)
        assert await first
        again = held(gate, was_trial=True)
        assert await second
        assert not again.done()
        gate.open()
        assert not await again

    _, seconds = run_virtually(run)
    assert seconds == 10


def test_a_cancelled_trial_hands_its_turn_on():
    async def run() -> None:
        gate = IntakeGate(lambda _: None)
        first, second = held(gate), held(gate)
        await asyncio.sleep(1)
        first.cancel()
        assert await second

    run_virtually(run)


def test_when_all_held_are_gone_the_gate_opens():
    async def run() -> None:
        gate = IntakeGate(lambda _: None)
        only = held(gate)
        await asyncio.sleep(1)
        only.cancel()
        await gate.passed()

    run_virtually(run)
