"""Verdicts: abstaining is never mistaken for a decision, and what is written is what was decided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas import OUTCOMES, Verdict, to_json
from tests.support.record_strategies import json_values, names

ABSTENTION = {"type": "abstention", "cause": "no_reference", "detail": "nothing to hold it against"}
FIELDS = {
    "id": "ver-1",
    "record_id": "sum-3",
    "checker": "consistency",
    "checker_version": "1",
    "config_digest": "c0ffee",
    "reason": "It has nothing to be held against.",
    "evidence": ABSTENTION,
    "usage": {},
    "source": "minutes",
    "model": "acme-chat-4",
    "judge": "local",
    "checked_at": "2026-11-20T09:30:00Z",
}

scores = st.none() | st.floats(0, 1)


@given(st.sampled_from(OUTCOMES), scores)
def test_a_verdict_abstains_exactly_when_it_has_no_score(outcome, score):
    if (outcome == "abstain") == (score is None):
        assert Verdict.model_validate({**FIELDS, "outcome": outcome, "score": score}).outcome == outcome
    else:
        with pytest.raises(ValidationError):
            Verdict.model_validate({**FIELDS, "outcome": outcome, "score": score})


@pytest.mark.parametrize("score", [-0.01, 1.01, float("nan"), float("inf"), "high"])
def test_a_score_is_a_number_from_0_to_1(score):
    with pytest.raises(ValidationError):
        Verdict.model_validate({**FIELDS, "outcome": "reject", "score": score})


@given(st.sampled_from(OUTCOMES), st.floats(0, 1), names, json_values)
def test_writing_then_reading_a_verdict_is_the_identity(outcome, score, name, value):
    score = None if outcome == "abstain" else score
    fields = {**FIELDS, "outcome": outcome, "score": score, "usage": {"calls": 3, "cost": 0.25}}
    verdict = Verdict.model_validate({f"x-{name}": value, **fields})
    assert Verdict.model_validate_json(to_json(verdict)) == verdict
