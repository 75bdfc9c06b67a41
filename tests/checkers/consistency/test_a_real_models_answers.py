"""The consistency checker over what a real, small model answered: its form, its figures and its mistakes."""

import pytest

from schemas import ConsistencyEvidence
from tests.checkers.consistency.recorded_model import recorded, verdicts
from tests.support.stub_endpoint import StubEndpoint

OUTCOMES = {
    "short": {
        "right": "accept",
        "one word": "accept",
        "wrong figure": "accept",
        "wrong day": "reject",
        "denied": "reject",
        "one of two": "accept",
        "refusal": "accept",
    },
    "list": {"right": "accept", "one of two": "reject"},
}
"""The model's own: it is small, and in the short form wrong about a figure and about the second of two sentences."""


@pytest.mark.parametrize("form", OUTCOMES)
async def test_verdicts_are_those_that_the_model_gave(form: str):
    with StubEndpoint() as stub:
        stub.play(recorded)
        found = await verdicts(stub.base_url, form)
        assert {name: verdict.outcome for name, verdict in found.items()} == OUTCOMES[form]
        assert sum(verdict.usage.calls for verdict in found.values()) == len(stub.requests)
    supports = [
        sentence.support
        for verdict in found.values()
        if isinstance(verdict.evidence, ConsistencyEvidence)
        for sentence in verdict.evidence.sentences
    ]
    # Words alone, without their probabilities, would make each 0 or 1.
    assert all(0.001 < support < 0.999 for support in supports)
    assert all(verdict.usage.cached_tokens for verdict in found.values())
