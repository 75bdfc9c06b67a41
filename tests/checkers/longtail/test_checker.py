"""Answers to probes are read strictly and scored against the expected ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testing import ScriptedModel, check
from checkers.longtail.checker import LongtailChecker
from checkers.longtail.yes_or_no import AFFIRMING, DENYING, Unparsable, meaning
from schemas import Abstention, ProbeEvidence

PROBE = {
    "statement": {
        "premise": "Person X has no freezer",
        "conclusion": "Person X cannot keep sorbet for a week",
        "domain": "food",
        "distribution": "tail",
    },
    "template": 7,
    "question": "Person X has no freezer. Can Person X keep sorbet for a week? Answer yes or no.",
    "expected": "no",
    "answer": "No.",
}


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ("Yes.", True),
        ("no", False),
        ("  **True**\n", True),
        ("FALSE", False),
        ("“Right”", True),
        ("wrong!", False),
        ("Yes, Person X can.", True),
        ("No — there is nothing to keep it cold.", False),
        ("**No**, it melts.", False),
    ],
)
def test_six_words_answer(answer: str, means: bool):
    assert meaning(answer) is means


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "…",
        "Maybe.",
        "It depends.",
        "I think yes.",
        "Yes and no.",
        "Yes, and no.",
        "No, that is wrong.",
        "True or false?",
        "Not true",
        "Yesterday",
        "Right-handed people can",
        "Nope",
        "1",
        "no way",
        "Yes of course",
        "yes?",
    ],
)
def test_anything_else_is_no_answer(answer: str):
    with pytest.raises(Unparsable):
        meaning(answer)


@given(st.text(max_size=40))
def test_what_is_read_as_an_answer_begins_with_one_of_the_six_words(answer: str):
    try:
        means = meaning(answer)
    except Unparsable:
        return
    bare = answer.casefold().lstrip(" \t\r\n\"'“”‘’`*_")
    assert bare.startswith(tuple(AFFIRMING if means else DENYING))


@given(
    st.sampled_from([*AFFIRMING, *DENYING]), st.sampled_from(["", ".", "!"]), st.sampled_from([str.upper, str.title])
)
def test_letter_case_and_a_full_stop_change_no_answer(word: str, end: str, case):
    assert meaning(case(word) + end) is (word in AFFIRMING)


def test_the_right_answer_is_accepted_with_the_statement_as_evidence():
    verdict = check(LongtailChecker, PROBE)
    assert (verdict.outcome, verdict.score) == ("accept", 1.0)
    evidence = verdict.evidence
    assert isinstance(evidence, ProbeEvidence)
    assert (evidence.premise, evidence.conclusion) == tuple(list(PROBE["statement"].values())[:2])
    assert (evidence.domain, evidence.distribution, evidence.polarity) == ("food", "tail", "negative")
    assert (evidence.question, evidence.expected, evidence.answer) == (PROBE["question"], "no", "No.")


def test_the_wrong_answer_is_rejected_and_the_reason_names_both():
    verdict = check(LongtailChecker, PROBE | {"answer": "Yes, in the cellar."})
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)
    assert "expected no" in verdict.reason
    assert "Yes, in the cellar." in verdict.reason


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"answer": "It depends."}, "subject_unusable"),
        ({"answer": ""}, "subject_unusable"),
        ({"expected": "perhaps"}, "unparsable"),
        ({"answer": "", "metadata": {"unanswered": "subject_refused"}}, "subject_refused"),
        ({"answer": "", "metadata": {"unanswered": "made up"}}, "subject_unusable"),
    ],
)
def test_what_cannot_be_read_abstains_with_the_cause(fields: dict, cause: str):
    verdict = check(LongtailChecker, PROBE | fields)
    assert verdict.outcome == "abstain"
    assert isinstance(verdict.evidence, Abstention)
    assert verdict.evidence.cause == cause


@pytest.mark.parametrize(
    ("template", "expected", "polarity"),
    [(1, "yes", "positive"), (4, "Right", "positive"), (7, "yes", "negative"), (10, "false", "negative")],
)
def test_probes_are_positive_if_they_are_to_be_affirmed(template: int, expected: str, polarity: str):
    verdict = check(LongtailChecker, PROBE | {"template": template, "expected": expected})
    assert isinstance(verdict.evidence, ProbeEvidence)
    assert verdict.evidence.polarity == polarity


def test_the_judge_is_not_asked_and_does_not_matter():
    first, second = (check(LongtailChecker, PROBE, judge=ScriptedModel(name=name)) for name in ("one", "other"))
    assert first.id == second.id
    assert first.judge == "none"
    assert first.usage.calls == 0


def test_settings_of_the_scheduler_do_not_change_verdicts():
    assert check(LongtailChecker, PROBE).id == check(LongtailChecker, PROBE, probes={"seconds_between": 7}).id
