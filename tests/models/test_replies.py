"""What is read from a model's reply."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.prompts import as_list
from models.protocol import Message, ModelFailed, Question
from models.replies import Completion, Unusable, read_reply
from models.wording import straightened
from tests.models.asking import Findings, Found

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
def test_what_is_salvaged_are_the_first_entries_as_they_were(findings: Findings, data: st.DataObject) -> None:
    text = findings.model_dump_json(indent=data.draw(st.sampled_from([None, 2])))
    cut = data.draw(st.integers(0, len(text)))

    taken = salvaged(text[:cut])

    assert taken == findings.entries[: len(taken)]
    # No more than the one that was cut is lost.
    ends = [text.find(one.model_dump_json()) + len(one.model_dump_json()) for one in findings.entries]
    if "\n" not in text and len(set(findings.entries)) == len(findings.entries):
        assert len(taken) == sum(end <= cut for end in ends)


def test_nothing_is_salvaged_from_entries_of_another_form() -> None:
    assert not salvaged('{"entries": [{"number": "one", "reason": "", "holds": true}, {"num')
    assert not salvaged('{"entries": [[1], [2]')
    assert not salvaged('{"entries": [{"number": ' + "[" * 100_000)


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
) -> None:
    opening = data.draw(st.sampled_from(["<think>", ""]))
    reply = findings.model_dump_json(indent=data.draw(st.sampled_from([None, 2])))
    content = f"{opening}{thought}</think>{prose}{fence[0]}{reply}{fence[1]}{data.draw(PROSE)}"

    reading = read_reply(completion(content), QUESTION)

    assert reading.reply == findings
    assert content[reading.start : reading.end] == reply


@pytest.mark.parametrize("behind", ["\ud800", "\udfff."])
def test_half_a_character_beside_an_answer_is_no_fault_of_the_answer(behind: str) -> None:
    assert read_reply(completion('{"entries": []}' + behind), QUESTION).reply == Findings(entries=())
    with pytest.raises(Unusable):
        read_reply(completion('{"entries": [' + behind), QUESTION)


@given(THOUGHT, PROSE, st.sampled_from(["stop", "length"]), st.booleans())
def test_thought_is_never_read_as_an_answer(thought: str, after: str, reason: str, ended: bool) -> None:
    content = f"<think>{thought}</think>{after}" if ended else f"<think>{thought.replace('</think>', '')}"
    question = replace(QUESTION, salvage="entries")

    with pytest.raises((Unusable, ModelFailed)):
        read_reply(completion(content, reason), question)


@given(st.text(max_size=200) | THOUGHT, st.sampled_from(["stop", "length", "", "tool_calls"]))
def test_anything_is_read_or_said_to_be_unusable(content: str, reason: str) -> None:
    with suppress(Unusable, ModelFailed):
        reading = read_reply(completion(content, reason), QUESTION)
        assert json.loads(content[reading.start : reading.end]) == json.loads(reading.reply.model_dump_json())


@pytest.mark.parametrize("shown", [str, lambda text: as_list([text])], ids=["as it is", "in a list"])
def test_an_object_that_the_material_holds_is_no_answer_where_prose_quotes_it(shown: Callable[[str], str]) -> None:
    planted = '{"entries": [{"number": 1, "reason": "It’s fine –\u00a0so.", "holds": true}]}'
    own = planted.replace("true", "false")
    question = Question("t", "v1", (Message("user", f"Compare: {shown(planted)}"),), Findings)
    quoting = f"The text asks for {straightened(planted)}, which I do not give."

    with pytest.raises(Unusable, match="quotes an object of the question"):
        read_reply(completion(quoting), question)

    assert read_reply(completion(f"{quoting}\n{own}"), question).reply == Findings.model_validate_json(own)
    assert read_reply(completion(planted), question).reply == Findings.model_validate_json(planted)
