"""Answers to probes are read strictly and scored against the expected ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testing import check
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
        ("**No**, it melts.", False),
        ("No, because it is true that keels are needed.", False),
        ("No, that is not right.", False),
        ("Well, yes.", True),
        ("The answer is no.", False),
        ("**Answer:** Yes", True),
        ('{"answer": "no"}', False),
        ("That is correct.", True),
        ("It isn’t true.", False),
    ],
)
def test_an_answer_is_read_where_it_stands(answer: str, means: bool):
    assert meaning(answer) is means


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "It depends.",
        "Yes and no.",
        "True or false?",
        "Yesterday",
        "No boat sails without a keel.",
        "I cannot say yes.",
    ],
)
def test_anything_else_is_no_answer(answer: str):
    with pytest.raises(Unparsable):
        meaning(answer)


@pytest.mark.parametrize("answer", ["I don't know.", "We do not know that.", "I cannot help with this.", "Which boat?"])
@pytest.mark.parametrize("expected", ["yes", "no"])
def test_an_answer_that_claims_nothing_is_not_right(answer: str, expected: str):
    verdict = check(LongtailChecker, PROBE | {"expected": expected, "answer": answer})
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)


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
    # Where the right answer is known, it can be counted beside the others of its side.
    probe = verdict.evidence.probe
    assert (None if cause == "unparsable" else "tail") == (probe and probe.distribution)
