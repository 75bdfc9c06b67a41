"""Kinds of claims and causes of failures, by their values."""

from typing import get_args

import pytest

from models.protocol import ClaimKind, Claims, ModelFailed
from schemas.evidence import AbstentionCause, JudgeCause, SubjectCause


def test_the_value_of_a_kind_stands_for_it_and_no_other() -> None:
    assert Claims("r", ("s",), "summary").kind is ClaimKind.SUMMARY  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'summery' is not a valid ClaimKind"):
        Claims("r", ("s",), "summery")  # type: ignore[arg-type]


def test_a_cause_is_that_of_an_abstention_and_has_its_like_for_subjects() -> None:
    for cause in get_args(JudgeCause):
        of_subject = ModelFailed("no answer", cause=cause).cause_of_subject
        assert {cause, of_subject} <= set(get_args(AbstentionCause))
        assert of_subject == cause.replace("judge_", "subject_")
        assert of_subject in get_args(SubjectCause)
