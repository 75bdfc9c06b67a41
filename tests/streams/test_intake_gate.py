"""Holding records while the judge is down, by the event loop's own clock."""

import asyncio

from streams.intake_gate import IntakeGate
from tests.support.virtual_time import run_virtually


def held(gate: IntakeGate, *, trial: int = 0) -> asyncio.Task[int]:
    return asyncio.create_task(gate.hold(5.0, trial=trial))


def test_one_held_record_is_tried_after_the_time_and_its_success_lets_all_go():
    async def run() -> None:
        changes: list[bool] = []
        gate = IntakeGate(changes.append)
        holders = [held(gate) for _ in range(3)]
        passing = asyncio.create_task(gate.passed())
        await asyncio.sleep(4.9)
        assert gate.closed
        assert gate.held == 3
        await asyncio.sleep(1)
        assert [holder.done() for holder in holders] == [True, False, False]
        assert not passing.done()
        gate.passed_trial(holders[0].result())
        assert await asyncio.gather(*holders[1:], passing) == [0, 0, 0]
        assert changes == [True, False]

    run_virtually(run)


def test_a_failed_trial_waits_again_and_the_next_one_is_tried():
    async def run() -> None:
        gate = IntakeGate(lambda _: None)
        first, second = held(gate), held(gate)
        again = held(gate, trial=await first)
        assert await second
        assert not again.done()
        gate.open()
        assert not await again

    _, seconds = run_virtually(run)
    assert seconds == 10


def test_a_trial_that_takes_long_lets_all_go():
    async def run() -> None:
        changes: list[bool] = []
        gate = IntakeGate(changes.append)
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
        assert await asyncio.gather(others[1], again) == [0, 0]
        assert changes == [True, False, True, False]

    _, seconds = run_virtually(run)
    assert seconds == 16


def test_after_all_held_records_failed_a_new_one_is_tried():
    async def run() -> None:
        gate = IntakeGate(lambda _: None)
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
        assert await asyncio.gather(other, again) == [0, 0]

    run_virtually(run)


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


def test_what_lets_others_pass_is_held_and_is_tried_one_at_a_time():
    async def run() -> None:
        changes: list[bool] = []
        gate = IntakeGate(changes.append)
        holders = [asyncio.create_task(gate.hold(5.0, trial=0, others_pass=True)) for _ in range(3)]
        await asyncio.sleep(1)
        assert await gate.passed() == 0
        trial = await holders[0]
        assert not any(holder.done() for holder in holders[1:])
        gate.passed_trial(trial)
        assert await asyncio.gather(*holders[1:]) == [0, 0]
        assert changes == []

    _, seconds = run_virtually(run)
    assert seconds == 5


def test_a_record_that_may_be_to_blame_closes_the_gate_only_where_none_is_answered_between():
    async def run() -> None:
        gate = IntakeGate(lambda _: None)
        trial = 0
        for _ in range(20):
            trial = await gate.hold(1.0, trial=trial, suspect=True)
            gate.answer()
        assert not gate.closed
        for _ in range(2):
            trial = await gate.hold(1.0, trial=trial, suspect=True)
        assert not gate.closed
        again = asyncio.create_task(gate.hold(1.0, trial=trial, suspect=True))
        await asyncio.sleep(0.5)
        assert gate.closed
        new = asyncio.create_task(gate.passed())
        await asyncio.sleep(0.1)
        assert not new.done()
        again.cancel()

    run_virtually(run)
