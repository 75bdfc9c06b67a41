"""Several answers to one question, each its own, kept by number."""

import itertools
from pathlib import Path

import pytest
from pydantic import BaseModel

from models.meter import MeteredModel, Replay
from models.protocol import ModelFailed, Question, sample
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support.stub_endpoint import StubEndpoint


class Number(BaseModel):
    number: int


NUMBER: Question[Number] = question(reply=Number, complaint=lambda reply: None)


@pytest.fixture(autouse=True)
def _counting(stub: StubEndpoint) -> None:
    """Every answer of the endpoint is another number."""
    numbers = itertools.count()
    stub.answer = lambda request: f'{{"number": {next(numbers)}}}'
    stub.adds_control = False


async def test_the_same_numbers_give_the_same_answers_and_others_are_asked_anew(
    model: MeteredModel, stub: StubEndpoint
):
    first = await sample(model, NUMBER, 2)
    assert await sample(model, NUMBER, 2) == first
    assert not {one.number for one in await sample(model, NUMBER, 2, first=2) if one} & {0, 1}
    assert len(stub.requests) == 4


async def test_a_reply_that_cannot_be_used_is_none_and_is_not_repaired(model: MeteredModel, stub: StubEndpoint):
    texts = iter(["nonsense", '{"number": 1}', '{"number": "one"}'])
    stub.answer = lambda request: next(texts)
    found = await sample(model, NUMBER, 3)
    assert sorted(found, key=str) == [None, None, Number(number=1)]
    assert len(stub.requests) == 3


async def test_they_are_recorded_and_replayed(model_of: MakeModel, stub: StubEndpoint, tmp_path: Path):
    texts = iter(['{"number": 1}', "nonsense"])
    stub.answer = lambda request: next(texts)
    file = tmp_path / "recording.jsonl"
    recorded = await sample(model_of(recording=file), NUMBER, 2)
    replay = Replay(file)
    assert recorded == (Number(number=1), None)
    assert await sample(replay, NUMBER, 2) == recorded
    with pytest.raises(ModelFailed, match="no answer to the"):
        await sample(replay, NUMBER, 1, first=2)
