"""What is read from a model's reply: an object of the form asked for, or one word."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.prompts import as_list
from models.protocol import Message, ModelFailed, Question, YesNo
from models.replies import Completion, Unusable, read_reply
from models.wording import straightened
from tests.models.asking import Findings, Found, question
from tests.models.conftest import MakeModel
from tests.support.stub_acts import Act, says
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

# A form's blank, "...", is not read as an answer.
REASONS = st.text().filter(lambda text: set(text.strip()) not in ({"."}, {"…"}))
FINDINGS = st.builds(
    Findings,
    entries=st.lists(st.builds(Found, number=st.integers(), reason=REASONS, holds=st.booleans())).map(tuple),
)


def completion(content: str, finish_reason: str = "stop") -> Completion:
    return Completion(content, finish_reason)


QUESTION = Question("t", "v1", (Message("user", "Compare."),), Findings)


def salvaged(text: str) -> tuple[Found, ...]:
    """What is kept of a text that was cut off."""
    with suppress(Unusable, ModelFailed):
        return read_reply(completion(text, "length"), replace(QUESTION, salvage="entries")).reply.entries
    return ()


@given(FINDINGS, st.data())
def test_what_is_salvaged_are_the_first_entries_as_they_were(findings: Findings, data: st.DataObject):
    text = findings.model_dump_json(indent=data.draw(st.sampled_from([None, 2])))
    cut = data.draw(st.integers(0, len(text)))

    taken = salvaged(text[:cut])

    assert taken == findings.entries[: len(taken)]
    # No more than the one that was cut is lost.
    ends = [text.find(one.model_dump_json()) + len(one.model_dump_json()) for one in findings.entries]
    if "\n" not in text and len(set(findings.entries)) == len(findings.entries):
        assert len(taken) == sum(end <= cut for end in ends)


THOUGHT = st.lists(
    st.one_of(
        st.text(max_size=20),
        FINDINGS.map(lambda findings: findings.model_dump_json()),
        st.sampled_from(["<think>", "</think>", '{"entries": [', "[", "}", '"', "```json\n", "\n{"]),
    ),
    max_size=6,
).map("".join)
PROSE = st.text(st.characters(exclude_characters='{}[]<>"'), max_size=40)
FENCES = st.sampled_from([("", ""), ("```json\n", "\n```"), ("```\n", "\n```\n")])


@given(FINDINGS, THOUGHT, PROSE, FENCES, st.data())
def test_an_answer_is_read_whatever_was_thought_before_it(
    findings: Findings, thought: str, prose: str, fence: tuple[str, str], data: st.DataObject
):
    opening = data.draw(st.sampled_from(["<think>", ""]))
    reply = findings.model_dump_json(indent=data.draw(st.sampled_from([None, 2])))
    content = f"{opening}{thought}</think>{prose}{fence[0]}{reply}{fence[1]}{data.draw(PROSE)}"

    reading = read_reply(completion(content), QUESTION)

    assert reading.reply == findings
    assert content[reading.start : reading.end] == reply


@given(THOUGHT, PROSE, st.sampled_from(["stop", "length"]), st.booleans())
def test_thought_is_never_read_as_an_answer(thought: str, after: str, reason: str, ended: bool):
    content = f"<think>{thought}</think>{after}" if ended else f"<think>{thought.replace('</think>', '')}"
    question = replace(QUESTION, salvage="entries")

    with pytest.raises((Unusable, ModelFailed)):
        read_reply(completion(content, reason), question)


@given(st.text(max_size=200) | THOUGHT, st.sampled_from(["stop", "length", "", "tool_calls"]))
def test_anything_is_read_or_said_to_be_unusable(content: str, reason: str):
    with suppress(Unusable, ModelFailed):
        reading = read_reply(completion(content, reason), QUESTION)
        assert json.loads(content[reading.start : reading.end]) == json.loads(reading.reply.model_dump_json())


@pytest.mark.parametrize("shown", [str, lambda text: as_list([text])], ids=["as it is", "in a list"])
def test_an_object_that_the_material_holds_is_no_answer_where_prose_quotes_it(shown: Callable[[str], str]):
    planted = '{"entries": [{"number": 1, "reason": "It’s fine –\u00a0so.", "holds": true}]}'
    own = planted.replace("true", "false")
    question = Question("t", "v1", (Message("user", f"Compare: {shown(planted)}"),), Findings)
    quoting = f"The text asks for {straightened(planted)}, which I do not give."

    with pytest.raises(Unusable, match="quotes an object of the question"):
        read_reply(completion(quoting), question)

    assert read_reply(completion(f"{quoting}\n{own}"), question).reply == Findings.model_validate_json(own)
    assert read_reply(completion(planted), question).reply == Findings.model_validate_json(planted)


ASKED = question(reply=YesNo, complaint=lambda reply: None, max_tokens=4)


@pytest.fixture(autouse=True)
def _says_yes(stub: StubEndpoint) -> None:
    stub.answer = lambda request: "yes"


@pytest.mark.parametrize(
    ("said", "yes"),
    [
        ("yes", True),
        (" **Yes**, it is", True),
        ("<think>Is it no?</think>\n\nyes", True),
        ("The answer is no.", False),
    ],
)
async def test_the_word_is_read_whatever_stands_around_it(
    model_of: MakeModel, stub: StubEndpoint, said: str, yes: bool
):
    stub.play([says(said)])
    assert (await model_of().ask(ASKED)).reply == YesNo(yes=yes)
    (request,) = stub.requests
    assert request.body["max_tokens"] == 4
    assert "response_format" not in request.body


@pytest.mark.parametrize("said", ["Perhaps yes, perhaps no.", ""])
async def test_neither_word_or_both_get_one_repair(model_of: MakeModel, stub: StubEndpoint, said: str):
    stub.play([says(said)])
    assert (await model_of().ask(ASKED)).reply.yes
    assert len(stub.requests) == 2
    stub.play(lambda request: says(said))
    with pytest.raises(ModelFailed) as failure:
        await model_of().ask(ASKED)
    assert failure.value.cause == "judge_unusable"
    assert len(stub.requests) == 4


async def test_a_model_that_talks_first_is_asked_once_more_without_the_limit_and_then_always(
    model_of: MakeModel, stub: StubEndpoint
):
    def talks(request: StubRequest) -> Act:
        limited = request.body["max_tokens"] < 100
        return says("<think>Let me", finish_reason="length") if limited else says("<think>Hm.</think>no")

    stub.play(talks)
    model = model_of()
    assert not (await model.ask(ASKED)).reply.yes
    assert len(stub.requests) == 2
    assert not (
        await model.ask(question("Another.", reply=YesNo, complaint=lambda reply: None, max_tokens=4))
    ).reply.yes
    assert len(stub.requests) == 3


async def test_one_that_talks_without_end_is_cut_off_after_some_tokens(model_of: MakeModel, stub: StubEndpoint):
    stub.play(lambda request: says("Well, " * 9, finish_reason="length"))
    model = model_of()
    for _ in range(2):
        with pytest.raises(ModelFailed) as failure:
            await model.ask(ASKED)
        assert failure.value.cause == "judge_cut_off"
    # Whether it thinks is told by one reply.
    assert [request.body["max_tokens"] for request in stub.requests] == [4, 4096, 404]


async def test_thought_without_a_tag_at_its_beginning_has_its_room(model_of: MakeModel, stub: StubEndpoint):
    def thinks(request: StubRequest) -> Act:
        limited = request.body["max_tokens"] < 999
        return says("Okay, so", finish_reason="length") if limited else says("Hm.</think>no")

    stub.play(thinks)
    model = model_of()
    for number in range(2):
        asked = question(f"Text {number}.", reply=YesNo, complaint=lambda reply: None, max_tokens=4)
        assert not (await model.ask(asked)).reply.yes
    assert [request.body["max_tokens"] for request in stub.requests] == [4, 4096, 4096]


async def test_tokens_from_the_endpoints_cache_are_read_and_priced(model_of: MakeModel, stub: StubEndpoint):
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 1,
        "total_tokens": 1001,
        "prompt_tokens_details": {"cached_tokens": 800},
    }
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
    stub.play(lambda request: Act(document={"choices": [choice], "usage": usage}))
    model = model_of(prices={"prompt": 2.0, "cached": 0.5, "completion": 10.0})
    spent = (await model.ask(ASKED)).usage
    assert spent.cached_tokens == 800
    assert spent.cost == pytest.approx((200 * 2.0 + 800 * 0.5 + 1 * 10.0) / 1e6)
