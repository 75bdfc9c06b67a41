"""Several answers to one question: in one request where the endpoint gives several, each its own, kept by number."""

import itertools
from pathlib import Path

import pytest
from pydantic import BaseModel

from lab.runs import KeptAnswers, KeptModel
from models.billing import billed
from models.meter import MeteredModel
from models.protocol import Answer, ModelFailed, Question
from models.recording import Replay
from models.sampling import sample
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest


class Number(BaseModel):
    number: int


NUMBER: Question[Number] = question(reply=Number, complaint=lambda reply: None)


@pytest.fixture(autouse=True)
def _counting(stub: StubEndpoint) -> None:
    """Every answer of the endpoint is another number."""
    numbers = itertools.count()
    stub.answer = lambda request: f'{{"number": {next(numbers)}}}'
    stub.adds_control = False


def several(stub: StubEndpoint) -> list[int]:
    return [request.body.get("n", 1) for request in stub.requests]


async def test_they_come_in_one_request_where_the_endpoint_gives_several(
    model: MeteredModel, stub: StubEndpoint
) -> None:
    stub.gives_several = True
    assert await sample(model, NUMBER, 6) == tuple(Number(number=n) for n in range(6))
    assert several(stub) == [6]


async def test_an_endpoint_that_gives_one_without_a_word_is_asked_for_the_rest_and_then_singly(
    model: MeteredModel, stub: StubEndpoint
) -> None:
    found = await sample(model, NUMBER, 4)
    assert sorted(one.number for one in found if one) == [0, 1, 2, 3]
    assert several(stub) == [4, 1, 1, 1]
    await sample(model, NUMBER, 3, first=4)
    assert several(stub)[4:] == [1, 1, 1]


async def test_an_endpoint_that_refuses_several_is_asked_singly(model: MeteredModel, stub: StubEndpoint) -> None:
    def act(request: StubRequest) -> Act:
        return stubs.status(400, "Only one completion choice is allowed") if "n" in request.body else stubs.good()

    stub.play(act)
    assert len({one.number for one in await sample(model, NUMBER, 3) if one}) == 3
    await sample(model, NUMBER, 2, first=3)
    assert several(stub) == [3, 1, 1, 1, 1, 1]


async def test_the_same_numbers_give_the_same_answers_and_others_are_asked_anew(
    model: MeteredModel, stub: StubEndpoint
) -> None:
    stub.gives_several = True
    first = await sample(model, NUMBER, 2)
    assert await sample(model, NUMBER, 2) == first
    assert await sample(model, NUMBER, 2, first=2) == (Number(number=2), Number(number=3))
    assert several(stub) == [2, 2]


@pytest.mark.parametrize("gives_several", [True, False])
async def test_a_reply_that_cannot_be_used_is_none_and_is_not_repaired(
    gives_several: bool, model: MeteredModel, stub: StubEndpoint
) -> None:
    stub.gives_several = gives_several
    texts = iter(["nonsense", '{"number": 1}', '{"number": "one"}'])
    stub.answer = lambda request: next(texts)
    found = await sample(model, NUMBER, 3)
    assert sorted(found, key=str) == [None, None, Number(number=1)]
    assert sum(several(stub)) == (3 if gives_several else 5)


async def test_a_request_that_is_refused_whatever_is_done_fails(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.play(lambda request: stubs.status(422, "no such role"))
    with billed() as bill, pytest.raises(ModelFailed, match="no such role"):
        await sample(model, NUMBER, 2)
    assert bill.usage.calls == len(stub.requests)


async def test_they_are_recorded_and_replayed(model_of: MakeModel, stub: StubEndpoint, tmp_path: Path) -> None:
    stub.gives_several = True
    texts = iter(['{"number": 1}', "nonsense"])
    stub.answer = lambda request: next(texts)
    file = tmp_path / "recording.jsonl"
    recorded = await sample(model_of(recording=file), NUMBER, 2)
    replay = Replay(file)
    assert recorded == (Number(number=1), None)
    assert await sample(replay, NUMBER, 2) == recorded
    with pytest.raises(ModelFailed, match="no answer to the"):
        await sample(replay, NUMBER, 1, first=2)


class Plain:
    """A model of another package, which knows single questions only."""

    name = "plain"

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, question):
        self.asked += 1
        if self.asked == 2:
            raise ModelFailed("gibberish", cause="judge_unusable")
        if self.asked > 3:
            raise ModelFailed("out of order", cause="judge_failed")
        return Answer(question.reply(number=self.asked))

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    "around",
    [
        lambda model, _: model,
        lambda model, _: MeteredModel(model),
        lambda model, folder: KeptModel(model, KeptAnswers(folder / "kept.sqlite"), "subject"),
    ],
    ids=["as it is", "metered", "kept on disk"],
)
async def test_any_model_can_be_sampled(around, tmp_path: Path) -> None:
    model = around(Plain(), tmp_path)
    assert await sample(model, NUMBER, 3) == (Number(number=1), None, Number(number=3))
    with pytest.raises(ModelFailed, match="out of order"):
        await sample(model, NUMBER, 1, first=3)
