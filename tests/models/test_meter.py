"""What was spent is added up and told, with how it ended and how long it waited."""

import asyncio

import pytest

from models.meter import EndedRequest, MeteredModel
from models.protocol import Answer, ModelFailed, Question, ReplyT
from models.work import Work
from schemas import Usage
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


async def test_answers_cached_answers_and_failures_are_counted(model_of: MakeModel, stub: StubEndpoint) -> None:
    heard: list[EndedRequest] = []
    model = model_of(prices={"prompt": 1.0}, hooks={"on_usage": heard.append})
    stub.play([stubs.good(), stubs.nonsense(), stubs.nonsense()])

    with Work() as bill:
        await model.ask(question())
        await model.ask(question())
        with pytest.raises(ModelFailed):
            await model.ask(question("Another."))

    assert {(each.model, each.task) for each in heard} == {("openai/m", "consistency.summary")}
    assert [(each.ending, each.usage.calls, each.usage.cached) for each in heard] == [
        ("answered", 1, 0),
        ("answered", 0, 1),
        ("failed", 2, 0),
    ]
    assert bill.usage.calls == 3
    assert bill.usage.cached == 1
    assert bill.usage.prompt_tokens == sum(each.usage.prompt_tokens for each in heard)
    assert bill.usage.cost == pytest.approx(sum(each.usage.cost for each in heard))
    assert bill.usage.cost > 0


class _Queued:
    """A model that keeps a question waiting before it works on it."""

    name = "queued"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        begun = asyncio.get_running_loop().time()
        await asyncio.sleep(0.05)
        self.waited = asyncio.get_running_loop().time() - begun
        return Answer(question.reply.model_construct(), Usage(calls=1, seconds=0.01))

    async def close(self) -> None:
        pass


async def test_what_was_no_work_on_a_question_was_waiting() -> None:
    heard: list[EndedRequest] = []
    model = _Queued()
    await MeteredModel(model, on_usage=heard.append).ask(question())
    assert heard[0].usage.seconds == 0.01
    assert heard[0].waited >= model.waited - 0.01
