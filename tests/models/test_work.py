"""A deadline counts work, and never the wait for a model."""

import asyncio
from contextlib import suppress

import pytest

from models.work import Flight, Phase, PhaseName, joined, observed_waits, work_limit

LIMIT = 0.1


async def _spend(phase: PhaseName) -> None:
    with Phase(phase):
        await asyncio.sleep(3 * LIMIT)


@pytest.mark.parametrize("phase", ["waits", "computed"])
async def test_a_wait_takes_nothing_of_the_time_and_neither_does_a_slow_machine(phase: PhaseName):
    async with work_limit(LIMIT):
        await _spend(phase)
        await asyncio.gather(_spend(phase), _spend("waits"))


async def test_what_a_model_elsewhere_takes_counts_also_while_other_questions_wait():
    with pytest.raises(TimeoutError):
        async with work_limit(LIMIT):
            await asyncio.gather(_spend("asked"), _spend("waits"))


async def test_whoever_joins_a_question_under_way_waits_for_its_answer():
    async def asked() -> str:
        await _spend("asked")
        return "answer"

    flight = joined(dict[str, Flight[str]](), "key", asked)
    first = asyncio.create_task(flight.result())
    await asyncio.sleep(0)
    async with work_limit(LIMIT):
        assert await flight.result() == "answer"
    assert await first == "answer"


async def test_a_question_that_outlives_the_work_tells_nobody():
    told: list[bool] = []
    with suppress(TimeoutError):
        async with work_limit(LIMIT):
            with observed_waits(told.append):
                phase = Phase("waits")
    phase.to("asked")
    phase.to(None)
    assert told == [True, False]
