"""Short texts held against each other: minimal pairs are told apart, rewordings pass, answers are found."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.local.judge import BundledJudge
from models.protocol import Claims, Judgement

HITS = [
    SimpleNamespace(**json.loads(line))
    for line in Path(__file__).with_name("hits.jsonl").read_text("utf-8").splitlines()
]
"""Hits of caches and of knowledge stores as users meet them, with what a person says of each."""

BAR = 0.75
"""Share of a table that is judged as a person judges it; what no judge of this size tells is listed all the same."""


ALIKE = [
    ("the old bridge", "the ancient bridge"),
    ("bought the barge", "purchased the barge"),
    ("twelve barges", "12 barges"),
    ("the decision of the board", "the board's decision"),
    ("the prime minister", "the premier"),
    ("decided to close the mill", "made a decision to close the mill"),
    ("the plan would lead to a safer day", "the new plan should lead to a safer day"),
    ("failed to reach the harbour", "did not reach the harbour"),
    ("The Lock-Keeper", "the lock-keeper"),
    ("not closed", "open"),
    ("the failure of the dyke", "the dyke failed"),
    ("opened the meeting late in the afternoon", "began the session in the early evening"),
    (
        "the crew of the trawler was rescued by a helicopter after the storm",
        "after the gale a helicopter saved the trawler's crew",
    ),
]
APART = [
    ("on Monday", "on Tuesday"),
    ("in May 2019", "in June 2019"),
    ("12 barges", "14 barges"),
    ("will arrive", "will not arrive"),
    ("Alma Weiss met Otto Brandt", "Otto Brandt met Alma Weiss"),
    ("the harbour master of Emden", "a concert for strings"),
    ("the clerks", "?!"),
]


def judged(
    judge: BundledJudge, kind: str, reference: str, text: str, around: tuple[str, str] | None = None
) -> Judgement:
    return judge.judge([Claims(reference, (text,), kind, around=around)])[0][0]


def test_phrases_that_say_the_same_pass_and_those_that_differ_in_a_word_do_not(judge):
    for rows, supported in ((ALIKE, True), (APART, False)):
        missed = [row for row in rows if judged(judge, "phrase", *row).supported is not supported]
        assert len(missed) <= (1 - BAR) * len(rows), missed


@pytest.mark.parametrize("store", ["cache", "knowledge"])
def test_hits_as_users_meet_them_are_judged_as_a_person_does(judge, store):
    hits = [hit for hit in HITS if hit.kind == store]
    forward = judge.judge([Claims(hit.matched, (hit.query,), "entailment") for hit in hits])
    backward = judge.judge([Claims(hit.query, (hit.matched,), "entailment") for hit in hits])
    wrong = []
    for hit, there, back in zip(hits, forward, backward, strict=True):
        support = there[0].support if store == "knowledge" else min(there[0].support, back[0].support)
        if (support >= 0.5) != hit.right:
            wrong.append(hit)
    assert len(wrong) <= (1 - BAR) * len(hits), wrong


def test_questions_of_a_knowledge_store_are_judged_as_a_person_judges_them(judge: BundledJudge) -> None:
    questions = [hit for hit in HITS if hit.kind == "question"]
    grades = judge.judge([Claims(one.matched, (one.query,), "answerability") for one in questions])
    wrong = [one for one, (grade,) in zip(questions, grades, strict=True) if grade.supported != one.right]
    assert len(wrong) <= 0.4 * len(questions), wrong


class TestSentencesAround:
    FIRST = "The harbour office announced on Friday that the ferry to Borkum resumes in May."
    SECOND = "On Friday the port authority said the ferry to Borkum would sail again in May."
    ELSEWHERE = "Bakers in the old town are looking for apprentices who like to get up early."
    PHRASES = ("the harbour office announced on Friday", "the port authority said on Friday")

    def test_they_tell_how_likely_it_is_that_the_phrases_speak_of_the_same(self, judge: BundledJudge) -> None:
        alike = judged(judge, "phrase", *self.PHRASES, (self.FIRST, self.SECOND))
        apart = judged(judge, "phrase", *self.PHRASES, (self.FIRST, self.ELSEWHERE))
        assert apart.support < 0.5 <= alike.support
        assert apart.reason

    @pytest.mark.parametrize(
        ("said", "instead"), [("Friday", "Monday"), ("Two", "Three"), ("1987", "1978"), ("will open", "will not open")]
    )
    def test_like_sentences_do_not_outweigh_a_contradiction(self, judge: BundledJudge, said: str, instead: str) -> None:
        sentence = (
            "Two ports said on Friday that the quay built in 1987 will open again in May to increase the number of "
            "ferries to Borkum."
        )
        other = sentence.replace(said, instead)
        for first, second in ((said, instead), (sentence, other)):
            judgement = judged(judge, "phrase", first, second, (sentence, other))
            assert judgement.support < 0.5, judgement


@settings(max_examples=12)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_phrase_is_judged_the_same_both_ways(judge: BundledJudge, first: str, second: str) -> None:
    one, other = judged(judge, "phrase", first, second), judged(judge, "phrase", second, first)
    assert one.support == pytest.approx(other.support, abs=0.002)
