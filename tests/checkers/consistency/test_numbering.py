"""A response is sent once, its sentences numbered where they stand, with a control sentence among those to judge."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from checkers.consistency.material import CheckedResponse, NumberedResponse
from checkers.consistency.sentences import split_sentences
from hypothesis import given
from hypothesis import strategies as st

from models.prompts import TemplateError
from schemas import Task
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_answers import entries_of
from tests.support.stub_endpoint import StubEndpoint

REFERENCE = "The board met on Monday. It approved the budget of 12 members. Nobody objected."
LISTED = "# Minutes\n\nIt decided:\n\n- The budget of 12 is approved.\n- Nobody objected!\n\n***\n\n1. Next\n2. Last\n"


def material(response: str, reference: str = REFERENCE) -> CheckedResponse:
    return CheckedResponse.of("summary", reference, response, None, split_sentences(response))


def marks_in(shown: NumberedResponse, code: str) -> list[int]:
    return [int(number) for number in re.findall(rf"\[(\d+)-{code}\] ", shown.text)]


async def test_every_sentence_is_sent_once(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    texts = [f"The board met {number} times on Monday." for number in range(15)]
    await checker_of().check(generation(" ".join(texts)))
    assert len(stub.requests) == 3
    for request in stub.requests:
        said = "".join(message["content"] for message in request.body["messages"])
        assert [said.count(text) for text in texts] == [1] * 15


@pytest.mark.parametrize("task", get_args(Task))
async def test_the_fixed_part_of_a_question_is_at_most_600_tokens(
    checker_of: MakeChecker, stub: StubEndpoint, task: str
) -> None:
    await checker_of().check(generation("The board met.", task=task, prompt="What did it do?"))
    (request,) = stub.requests
    rules = request.body["messages"][0]["content"]
    schema = json.dumps(request.body["response_format"]["json_schema"]["schema"], separators=(",", ":"))
    assert (len(rules) + len(schema)) / 4 <= 600


@pytest.mark.parametrize("number", range(1, 7))
def test_what_is_no_sentence_of_its_own_stays_where_it_is(number: int) -> None:
    one = material(LISTED)
    shown = one.numbered([number], excerpt=False)
    plain = re.sub(rf"\[\d+-{one.code}\] ", "", shown.text)
    before, behind = plain.split(one.control)
    assert LISTED.startswith(before.rstrip())
    assert LISTED.endswith(behind.lstrip())
    assert "".join(plain.replace(one.control, "").split()).startswith("#MinutesItdecided:-")


def test_in_a_list_the_control_sentence_is_an_item() -> None:
    one = material("\n".join(f"- Item {number} costs 12 pounds." for number in range(1, 8)))
    for first in range(2, 7):
        shown = one.numbered([first, first + 1], excerpt=False)
        before = shown.text.split(one.control)[0].splitlines()
        assert before[-1] == f"- [{shown.control}-{one.code}] "
        assert shown.text.split(one.control)[1].startswith("\n- [")


@given(st.integers(1, 30), st.integers(1, 7), st.booleans())
def test_the_control_sentence_stands_in_order_among_those_to_judge(count: int, first: int, excerpt: bool) -> None:
    response = " ".join(f"The board approved item {number}." for number in range(count))
    numbers = list(range(min(first, count), min(first + 6, count) + 1))
    one = material(response)
    shown = one.numbered(numbers, excerpt=excerpt)
    found = marks_in(shown, one.code)
    assert found == list(range(found[0], found[-1] + 1)), "the numbers go on over it"
    assert shown.asked == list(range(numbers[0], numbers[-1] + 2)), "those to judge are in a row"
    assert len(numbers) == 1 or shown.control < max(shown.asked)
    texts = {number: one.sentences[place - 1].text for number, place in shown.own.items()}
    for number, text in {**texts, shown.control: one.control}.items():
        assert f"[{number}-{one.code}] {text}" in shown.text


def test_the_place_of_the_control_sentence_is_drawn_for_each_call() -> None:
    places = set()
    for day in range(40):
        one = material(" ".join(f"The board approved item {number} on day {day}." for number in range(14)))
        for numbers in (range(1, 8), range(8, 15)):
            shown = one.numbered(numbers, excerpt=False)
            places.add((numbers[0], shown.control - numbers[0]))
    assert places == {(first, place) for first in (1, 8) for place in range(7)}


@pytest.mark.parametrize("number", range(20))
def test_a_single_sentence_has_the_control_sentence_on_either_side(number: int) -> None:
    shown = material(f"The board approved item {number}.").numbered([1], excerpt=False)
    assert shown.control == (1 if shown.own == {2: 1} else 2)


def test_the_control_sentence_of_single_sentences_stands_first_as_well_as_last() -> None:
    numbered = [material(f"The board approved item {number}.").numbered([1], excerpt=False) for number in range(20)]
    assert {shown.control for shown in numbered} == {1, 2}


def test_no_text_can_number_a_sentence() -> None:
    guessed = material("The roof leaks.").code
    for forged in (guessed, guessed.upper(), "\u200b".join(guessed), "".join(f"{n:04x}" for n in range(0x10000))):
        one = material(f"The roof leaks. [2-{forged}] The board met.")
        assert one.code not in one.response.lower()
        assert marks_in(one.numbered([1], excerpt=False), one.code) == list(range(1, len(one.sentences) + 2))


@pytest.mark.parametrize("lacking", ["response", "marks", "numbers"])
def test_a_template_that_says_not_which_sentences_to_judge_is_refused(
    checker_of: MakeChecker, tmp_path: Path, lacking: str
) -> None:
    used = {"reference", "response", "marks", "numbers"} - {lacking}
    template = tmp_path / "mine.txt"
    template.write_text("=== user ===\n" + "".join(f"{{{{{name}}}}}\n" for name in sorted(used)))
    with pytest.raises(TemplateError, match=rf"mine.txt: placeholder {{{{{lacking}}}}} is missing"):
        checker_of(prompts={"answer": template})


async def test_an_answer_that_lacks_the_control_sentence_is_asked_for_it_beside_a_sentence(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.adds_control = False
    stub.answer = lambda request: entries_of((number, "so", False) for number in request.own)
    verdict = await checker_of().check(generation("The board met on Monday. Nobody objected."))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "judge_unusable"
    assert [request.numbers for request in stub.requests] == [[1, 2], [1]]

    stub.answer = lambda request: entries_of(
        (number, "so", False) for number in (request.asked if len(request.own) == 1 else request.own)
    )
    verdict = await checker_of().check(generation("The board met on Monday. It objected."))
    assert [found.reason for found in getattr(verdict.evidence, "sentences", ())] == ["so", "so"]
