"""A named judge: what it is asked about each sentence, however long the texts are, and what it tells."""

from collections.abc import Callable
from pathlib import Path

import pytest

from models.grounding.judge import GroundingJudge
from models.protocol import SUPPORTED, Claims, Graded, Judgement, ModelFailed
from tests.models.grounding.setting import (
    ReadsItself,
    believing_judge,
    has_words,
)

MakeJudge = Callable[..., tuple[GroundingJudge, ReadsItself]]


@pytest.fixture
def judge_of(tmp_path: Path) -> MakeJudge:
    """A loaded judge by a network that supports what `believes` says of the words."""

    def build(believes: Callable[[str, str], bool], **options: int) -> tuple[GroundingJudge, ReadsItself]:
        named, network = believing_judge(tmp_path, believes, **options)
        judge = GroundingJudge(named, say=pytest.fail)
        judge.load()
        return judge, network

    return build


def judged(graded: Graded) -> list[bool]:
    assert not isinstance(graded, ModelFailed)
    return [one.supported for one in graded]


def only(graded: Graded) -> Judgement:
    assert not isinstance(graded, ModelFailed)
    (judgement,) = graded
    return judgement


def test_only_a_sentence_about_the_same_can_contradict_an_earlier_one(judge_of: MakeJudge) -> None:
    judge, _ = judge_of(has_words, limit=1000)
    earlier = "the parcel left leipzig on monday. the office opens at noon."
    said = ("the parcel left leipzig on friday.", "the parcel left leipzig on monday.", "a permit is free.")
    (grades,) = judge.judge([Claims(earlier, said, "compatible")])
    assert not isinstance(grades, ModelFailed)
    assert [one.supported or one.claims_nothing for one in grades] == [False, True, True]
    assert grades[0].passage == "the parcel left leipzig on monday."
    (nothing,) = judge.judge([Claims(earlier, said[2:], "compatible")])
    assert only(nothing).claims_nothing


def test_a_sentence_too_long_to_be_judged_fails_its_own_entry_alone(judge_of: MakeJudge) -> None:
    judge, _ = judge_of(has_words, limit=200, words=50)
    long = "a" * 190
    reference = "the parcel left leipzig on monday. " * 10

    fits, refused, empty = judge.judge(
        [
            Claims(reference, ("the parcel left",), "summary"),
            Claims(reference, ("the parcel left", long), "summary"),
            Claims(" \n", ("the parcel left",), "answer"),
        ]
    )

    assert judged(fits) == [True]
    assert isinstance(refused, ModelFailed)
    assert refused.cause == "too_long"
    assert "193 of the 200 tokens" in refused.detail
    assert isinstance(empty, ModelFailed)
    assert "empty" in empty.detail


@pytest.mark.parametrize("there", [True, False])
def test_the_end_of_long_texts_counts_as_when_short(judge_of: MakeJudge, there: bool) -> None:
    judge, _ = judge_of(has_words)
    before = [f"crew {number} painted hull {number} red." for number in range(500)]
    claim = "the sailor sold twelve ropes."
    end = claim if there else claim.replace("twelve", "nine")
    long_reference = Claims(" ".join([*before, end]), (claim,), "summary")
    long_response = Claims(" ".join([*before[:30], end]), (*before[:30], claim), "summary")
    for claims in (long_reference, long_response):
        assert judged(judge.judge([claims])[0])[-1] is there


def test_a_paraphrase_must_say_all_that_the_other_says(judge_of: MakeJudge) -> None:
    judge, _ = judge_of(has_words)
    said = "It left on Monday. It arrives on Friday."

    whole, part, more = judge.judge(
        [
            Claims(said, ("It arrives on Friday.", "It left on Monday."), "paraphrase"),
            Claims(said, ("It left on Monday.",), "paraphrase"),
            Claims("It left on Monday.", ("It left on Monday in rain.",), "paraphrase"),
        ]
    )

    assert judged(whole) == [True, True]
    assert judged(part) == [False]
    assert "“It arrives on Friday.”" in only(part).reason
    assert only(part).passage == "It arrives on Friday."
    assert judged(more) == [False]


def test_a_short_answer_is_judged_together_with_its_question(judge_of: MakeJudge) -> None:
    judge, network = judge_of(has_words)
    claims = Claims(
        "Did it leave. Yes.", ("Yes.", "It left on Monday at noon."), "answer", "You are a bot. Did it leave?"
    )

    judge.judge([claims])

    assert [claim for _, claim in network.passes[0]] == ["it left on monday at noon.", "did it leave? yes."]


def test_a_reason_names_the_score_and_the_nearest_passage(judge_of: MakeJudge) -> None:
    judge, _ = judge_of(has_words)
    reference = "The mill is old. It left on Monday. Nobody saw it."

    good, bad = judge.judge([Claims(reference, (text,), "summary") for text in ("It left.", "It left on Friday.")])

    assert only(good).passage == "It left on Monday."
    assert only(good).support >= SUPPORTED
    assert only(good).reason == "believer gives it 0.98, by the passage with “It left on Monday.”"
    assert only(bad).support < SUPPORTED
    assert only(bad).reason == "believer gives it only 0.02; the nearest passage says “It left on Monday.”"


def test_whether_a_text_answers_a_question_it_cannot_say(judge_of: MakeJudge) -> None:
    judge, network = judge_of(has_words)

    (asked,) = judge.judge([Claims("It left.", ("When did it leave?",), "answerability")])

    assert isinstance(asked, ModelFailed)
    assert asked.cause == "judge_failed"
    assert "cannot say if a text answers a question; configure an endpoint" in asked.detail
    assert network.passes == []
