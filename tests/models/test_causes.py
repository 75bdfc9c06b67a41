"""Every cause of a failure is one that an abstention may have, and a subject's says that it was the subject."""

from typing import get_args

import pytest

from models.protocol import ModelFailed
from schemas.evidence import AbstentionCause, JudgeCause, SubjectCause


@pytest.mark.parametrize("cause", get_args(JudgeCause))
def test_a_cause_is_that_of_an_abstention_and_has_its_like_for_subjects(cause: JudgeCause) -> None:
    of_subject = ModelFailed("no answer", cause=cause).cause_of_subject

    assert {cause, of_subject} <= set(get_args(AbstentionCause))
    assert of_subject == cause.replace("judge_", "subject_")
    assert of_subject in get_args(SubjectCause)
