"""The probability of `true` at each boolean of a reply: the same wherever the text is cut into tokens."""

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel

from models.meter import MeteredModel
from models.replies import Completion, ReadReply, probabilities_of
from tests.models.asking import Findings, Found, question
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint


def token(text: bytes, probability: float) -> dict[str, Any]:
    """A token as endpoints give it; its text is what can be read of its bytes."""
    return {"token": text.decode("utf-8", "replace"), "logprob": math.log(probability), "bytes": list(text)}


def literals(text: bytes) -> list[int]:
    """Offsets of the values of `holds`, which no reason of these tests holds."""
    found = [text.find(b'"holds": ') + 9]
    while (following := text.find(b'"holds": ', found[-1])) >= 0:
        found.append(following + 9)
    return found if found[0] > 8 else []


def tokenised(text: bytes, cuts: Sequence[int], chances: Sequence[float], spellings: int) -> dict[str, Any]:
    """The text in tokens, with at each literal the alternatives of a model that gave `true` these chances.

    `spellings` is the number of ways in which the other word may begin, among which its probability is divided.
    """
    places = dict(zip(literals(text), chances, strict=True))
    content = []
    for start, end in pairwise(sorted({0, *cuts, len(text)})):
        piece = text[start:end]
        listed = [token(piece, 0.9), token(b"\n", 0.05), token(b"x", 0.01)]
        decided = [place for place in places if start <= place < end]
        if decided:
            place, chance = decided[0], places[decided[0]]
            written_true = text[place : place + 4] == b"true"
            other = b"false" if written_true else b"true"
            own, its = (chance, 1 - chance) if written_true else (1 - chance, chance)
            before = piece[: place - start]
            # 0.9 of the mass is on the two words; the rest begins neither.
            listed = [token(piece, 0.9 * own), token(before + b"null", 0.06), token(b"[", 0.03)]
            listed += [token(before + other[: size + 1], 0.9 * its / spellings) for size in range(spellings)]
        content.append({**listed[0], "top_logprobs": listed})
    return {"content": content}


def probabilities_in(logprobs: Any, text: str, start: int, end: int, form: type[BaseModel]) -> tuple[float, ...] | None:
    """Of the booleans called `holds` of a reply at this place in a text."""
    reading = ReadReply(form.model_validate_json(text[start:end]), start, end)
    return probabilities_of(Completion(text, "stop", logprobs=logprobs), reading, question(reply=form, graded="holds"))


REASONS = st.text(max_size=12).filter(lambda text: "holds" not in text and set(text.strip()) not in ({"."}, {"…"}))
ENTRIES = st.lists(st.builds(Found, number=st.integers(0, 99), reason=REASONS, holds=st.booleans()), max_size=4)
AROUND = st.sampled_from(
    [("", ""), ("<think>true or false?</think>\n", ""), ("Vérifié :\n```json\n", "\n```\n"), (" ", "")]
)


@given(ENTRIES, AROUND, st.data())
def test_the_probabilities_do_not_depend_on_how_the_text_is_cut_into_tokens(
    entries: list[Found], around: tuple[str, str], data: st.DataObject
):
    before, after = around
    reply = json.dumps(Findings(entries=tuple(entries)).model_dump(), ensure_ascii=data.draw(st.booleans()))
    text = f"{before}{reply}{after}"
    chances = [data.draw(st.floats(0.001, 0.999)) for _ in entries]
    cuts = data.draw(st.lists(st.integers(0, len(text.encode())), max_size=60))
    for place, following in pairwise(literals(text.encode())):
        # One token cannot tell of two decisions.
        assume(any(place < cut <= following for cut in cuts))
    logprobs = tokenised(text.encode(), cuts, chances, spellings=data.draw(st.integers(1, 4)))

    found = probabilities_in(logprobs, text, len(before), len(text) - len(after), Findings)

    assert found == pytest.approx(tuple(chances))


TEXT = '{"number": 1, "reason": "It is true: \\"holds\\": false.", "holds": true}'


def one(*tokens: tuple[str, float, dict[str, float]]) -> dict[str, Any]:
    """Log-probabilities without bytes: text, probability and alternatives of each token."""
    return {
        "content": [
            {
                "token": text,
                "logprob": math.log(own),
                "top_logprobs": [
                    {"token": other, "logprob": math.log(chance)} for other, chance in {text: own, **others}.items()
                ],
            }
            for text, own, others in tokens
        ]
    }


HEAD, TAIL = TEXT[: TEXT.rfind("true")], "}"


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        (one((HEAD[:-3], 1, {"x": 0.1}), ('": tr', 0.8, {'": f': 0.2}), ("ue", 1, {"uth": 0.1}), (TAIL, 1, {})), 0.8),
        (one(("<think>", 1, {}), (HEAD, 1, {}), ("true", 0.8, {"false": 0.2}), (TAIL + "<|end|>", 1, {})), 0.8),
        (one((HEAD, 1, {"x": 0.1}), ("true", 0.97, {"x": 0.01}), (TAIL, 1, {})), 1.0),
    ],
    ids=["split", "thought and end mark", "other word not listed"],
)
def test_alternatives_that_begin_either_word_count(logprobs: dict[str, Any], expected: float):
    assert probabilities_in(logprobs, TEXT, 0, len(TEXT), Found) == pytest.approx((expected,))


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": [{"token": TEXT, "logprob": -0.1, "top_logprobs": []}]},
        one(("another text", 0.9, {"x": 0.1})),
        one((HEAD, 0.9, {"x": 0.1}), ("true}", 0.9, {})),
        "nonsense",
    ],
)
def test_without_alternatives_for_the_text_there_are_none(logprobs: Any):
    assert probabilities_in(logprobs, TEXT, 0, len(TEXT), Found) is None


def graded(text: str, chances: Sequence[float], **changes: Any) -> Act:
    """A completion with log-probabilities, in tokens of three bytes."""
    data = text.encode()
    logprobs = tokenised(data, range(0, len(data), 3), chances, spellings=2)
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": logprobs}
    return Act(document={"choices": [{**choice, **changes}], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})


def asking(**changes: Any) -> Any:
    return question(reply=Findings, graded="holds", complaint=lambda _: None, **changes)


REPLY = json.dumps({"entries": [{"number": n, "reason": "r", "holds": n == 1} for n in (1, 2)]})


async def test_a_reply_that_was_cut_off_has_those_of_its_whole_entries(model: MeteredModel, stub: StubEndpoint):
    text = REPLY[: REPLY.rfind("}]}")]
    stub.play([graded(text, [0.9, 0.2], finish_reason="length")])

    answer = await model.ask(asking(salvage="entries"))

    assert len(answer.reply.entries) == 1
    assert answer.probabilities == pytest.approx((0.9,))


class Held(BaseModel):
    holds: bool


def forced(own: float, **others: float) -> dict[str, Any]:
    """As llama.cpp's server gives a word that a grammar may have forced on the model."""
    listed = [{"token": token, "logprob": value} for token, value in others.items()]
    head, tail = ({"token": text, "logprob": -0.1, "top_logprobs": []} for text in ('{"holds": ', "}"))
    return {"content": [head, {"token": "true", "logprob": own, "top_logprobs": listed}, tail]}


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        # Less likely than all alternatives, it says nothing of what the model believes.
        (-12.8, {"1": -0.84, "9": -1.63, "2": -2.37, "0": -2.51, "3": -3.36}, None),
        (-0.12, {"true": -0.12, "1": -2.85, "2": -3.99}, 1.0),
        (-1.9, {"1": -1.0, "false": -1.6, "true": -1.9}, 0.43),
        (-3.4, {"1": -1.0, "false": -2.0}, 0.2),
    ],
)
def test_a_word_that_is_likely_or_stands_beside_the_other_has_a_probability(
    own: float, others: dict[str, float], expected: float | None
):
    text = '{"holds": true}'
    found = probabilities_in(forced(own, **others), text, 0, len(text), Held)
    assert found == (None if expected is None else pytest.approx((expected,), abs=0.01))
