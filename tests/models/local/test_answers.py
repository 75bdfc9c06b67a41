"""Questions against passages: an answer is told from what is only alike, and what is missing is named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.claims import Claims, Judgement
from models.local import EmbeddingJudge
from models.local.answers.judge import answer_weights
from tests.support.labelled_hits import QUESTIONS


def judged(judge: EmbeddingJudge, question: str, passage: str) -> Judgement:
    return judge.judge([Claims(passage, (question,), "answerability")])[0][0]


@pytest.fixture(scope="module")
def grades(judge: EmbeddingJudge) -> list[Judgement]:
    return [
        grade for (grade,) in judge.judge([Claims(one.matched, (one.query,), "answerability") for one in QUESTIONS])
    ]


def test_questions_of_a_knowledge_store_are_judged_as_a_person_judges_them(grades: list[Judgement]) -> None:
    wrong = {one.matched for one, grade in zip(QUESTIONS, grades, strict=True) if grade.supported != one.right}
    assert wrong <= ANOTHER_THING | APART


ANOTHER_THING = {
    "A month pass costs 90 euros.",
    "Breakfast is free for guests.",
    "Hats may be returned within 60 days.",
}
"""Accepted though they tell of something else: all but one word of the question is there, and an answer, too."""

APART = {"The grant pays for solar roofs. Owners of houses may apply for it until March."}
"""Not accepted: one sentence names what is asked about, the other one has the answer."""

LIFT = "The north lift of the Harbour Tower was built in 1911 by Clara Voss because the stairs were steep."
WITHOUT = [
    ("When was the south lift of the Harbour Tower built?", LIFT, "'north' for 'south'"),
    ("Who built the north lift of the Harbour Tower in 1927?", LIFT, "1927"),
    ("Who never built the north lift of the Harbour Tower?", LIFT, "'never'"),
    ("When was the Harbour Tower painted?", "The Harbour Tower was painted red.", "no time"),
    ("How many stairs does the Harbour Tower have?", "The stairs of the Harbour Tower are steep.", "no figure"),
    ("Who painted the Harbour Tower?", "The Harbour Tower was painted red.", "nobody"),
    ("Why was the Harbour Tower painted?", "The Harbour Tower was painted red.", "no reason"),
    ("When was Ada Brandt born?", "Ole Brandt was born on 3 May 1951.", "'Ole Brandt'"),
    ("Is the Harbour Tower painted?", "The Market Tower was painted red.", "'Harbour'"),
]


@pytest.mark.parametrize(("question", "passage", "named"), WITHOUT)
def test_what_keeps_a_passage_from_answering_is_named(judge, question: str, passage: str, named: str) -> None:
    grade = judged(judge, question, passage)
    assert not grade.supported
    assert named in grade.reason


ANSWERED = [
    ("When was the north lift built?", LIFT),
    ("Who built the north lift of the Harbour Tower in 1911?", LIFT),
    ("Why was the north lift built?", LIFT),
    # No is an answer, too.
    ("Is the lift open?", "The lift is closed."),
    ("Does the lift stop at the roof?", "The lift does not stop at the roof."),
    # Dates in brackets tell of a death without the word.
    ("When did Clara Voss die?", "Clara Voss (3 May 1871 – 9 June 1944), born in Lund, was an engineer."),
    ("Where is the head office?", "The tower is tall. Our headquarters are in Basel. It rains there."),
]


@pytest.mark.parametrize(("question", "passage"), ANSWERED)
def test_an_answer_is_found_in_other_words_and_among_other_sentences(judge, question: str, passage: str) -> None:
    grade = judged(judge, question, passage)
    assert grade.supported, grade


def test_the_sentence_that_answers_is_the_passage_named(judge) -> None:
    passage = "The pool is heated. It opens at seven every morning. Towels cost two euros."
    assert judged(judge, "When does the pool open?", passage).passage == "It opens at seven every morning."


def test_the_weights_say_where_they_come_from() -> None:
    weights = answer_weights()
    assert "benchmarks.retrieval.question_weights" in weights.made_by
    assert "CC BY-SA" in weights.learned_from


def test_company_changes_nothing(judge, grades: list[Judgement]) -> None:
    alone = [judged(judge, one.query, one.matched) for one in QUESTIONS[:4]]
    assert [one.support for one in alone] == pytest.approx([one.support for one in grades[:4]], abs=0.01)


@settings(max_examples=20)
@given(question=st.text(max_size=60), passage=st.text(max_size=80))
def test_no_text_breaks_it(judge, question: str, passage: str) -> None:
    grade = judged(judge, question, passage)
    assert 0.0 <= grade.support <= 1.0
    assert grade.reason


@pytest.mark.parametrize("junk", ["", "?", "a" * 20_000, "9 " * 3_000, "\ud800 broken", "🙂" * 500, "When? " * 500])
def test_junk_is_judged_on_either_side(judge, junk: str) -> None:
    assert not judged(judge, "When does the pool open?", junk).supported
    assert not judged(judge, junk, "The pool opens at seven.").supported
