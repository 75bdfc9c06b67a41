"""Which texts are matched, what is claimed of them, and what a person is told."""

import pytest

from checkers.retrieval.checker import candidates_of
from checkers.retrieval.questions import compared, is_question
from models.protocol import ClaimKind
from tests.checkers.graders import ScriptedGrader
from tests.checkers.retrieval.setting import has_all_words, hit

QUERY = "Can I pay by card?"


def test_candidates_are_limited_in_number_and_length_and_those_left_out_are_counted():
    record = hit(QUERY, candidates=[("a" * 10, 0.9), ("b" * 30, 0.8), ("c" * 10, 0.7), ("…", 0.65), ("d", 0.6)])
    chosen, left_out = candidates_of(record, most=4, characters=25)
    assert ([one.id for one in chosen], left_out) == (["c1", "c3", "c5"], 1)
    assert candidates_of(record, most=0, characters=25) == ([], 4)


@pytest.mark.parametrize(("fields", "count"), [({}, 0), ({"text": "Another text"}, 1), ({"id": "q-2"}, 1)])
def test_the_matched_text_among_the_candidates_is_none(fields, count):
    record = hit()
    other = record.matched.model_copy(update=fields)
    record = record.model_copy(update={"candidates": (record.matched, other)})
    assert candidates_of(record, most=10, characters=1000) == ([other] * count, 0)


async def test_each_text_is_asked_about_once_in_every_direction_or_as_an_answer():
    judge, texts = (
        ScriptedGrader(has_all_words),
        ["Can I pay?", f" {QUERY}\n", "You can pay by card, can I say.", "Can I pay?"],
    )
    there, same, answer, again = await compared(judge, "cache", QUERY, texts)
    assert [(one["text_to_query"].score, one["query_to_text"].score) for one in (there, same, answer)] == [
        (0, 1),
        (1, 1),
        (1, 0),
    ]
    assert there == again
    assert [claims.kind for claims in judge.graded] == [ClaimKind.MATCH] * 3
    judge.graded.clear()
    found = await compared(judge, "question", QUERY, texts)
    assert [(one["text_to_query"].score, *one) for one in found] == [(score, "text_to_query") for score in (0, 1, 1, 0)]
    # A text that asks, too, is matched.
    kinds = {claims.reference: claims.kind for claims in judge.graded}
    assert kinds == {texts[0]: ClaimKind.MATCH, texts[2]: ClaimKind.ANSWERABILITY}


ASKING = [
    "Where is the head office?",
    "where is the head office",
    "In which year was the mill built",
    "Is the pool open today",
    "Can I return worn shoes",
    "My screen flickers. What can I do?",
    "The mill was built when?",
    "Is it “free”?”",
    "門は何時に開きますか？",
]
STATING = [
    "The pool is open today.",
    "head office address",
    "What a view!",
    "Which pass I bought is of no account.",
    "Can openers",
    "Is it? It is.",
    "",
    "…",
]


def test_a_text_that_asks_is_a_question_with_or_without_its_mark():
    assert [text for text in ASKING if not is_question(text)] == []
    assert [text for text in STATING if is_question(text)] == []
