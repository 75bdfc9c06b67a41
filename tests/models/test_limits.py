"""How many requests are under way."""

import asyncio

from models.work import Work
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support.stub_acts import status
from tests.support.stub_endpoint import StubEndpoint


async def test_no_more_than_the_configured_number_are_under_way(model_of: MakeModel, stub: StubEndpoint) -> None:
    stub.delay = 0.05
    model = model_of(concurrency=4)

    await asyncio.gather(*(model.ask(question(f"Sentence {number}.")) for number in range(24)))

    assert stub.most_at_once == 4


async def test_a_question_that_waits_to_be_asked_again_keeps_no_place(model_of: MakeModel, stub: StubEndpoint) -> None:
    stub.play([status(500)])
    model = model_of(concurrency=1, max_attempts=2)

    first, second = await asyncio.gather(model.ask(question("First.")), model.ask(question("Second.")))

    assert first.usage.calls == 2
    assert second.usage.calls == 1


async def test_work_that_began_first_is_finished_first(model_of: MakeModel, stub: StubEndpoint) -> None:
    model = model_of(concurrency=1)
    ended: list[str] = []

    async def work(name: str) -> None:
        with Work():
            for number in range(3):
                await model.ask(question(f"Sentence {number} of {name}."))
        ended.append(name)
        # While one prepares its next question, the next one asks.
        assert len(stub.requests) <= 3 * (len(ended) + 1)

    await asyncio.gather(*map(work, "ABCDE"))

    assert ended == list("ABCDE")
