"""The methods over what a real, small model answered as subject and as writer: its forms and its mistakes."""

from tests.checkers.recorded_methods import MODEL, RECORDING, verdicts

OUTCOMES = {
    "yes": "accept",
    "yes of others": "accept",
    "no": "reject",
    "names": "accept",
    "not in the text": "reject",
    "bits": "reject",
}
"""The model's own: it takes *opened* for *locked*, contradicts its no, and copies the datapoint."""


async def test_verdicts_are_those_that_the_model_gave():
    found = await verdicts(backend="replay", recording=RECORDING, model=MODEL)
    assert {name: verdict.outcome for name, verdict in found.items()} == OUTCOMES
    assert "“Brandt” is not in the text" in found["not in the text"].reason
    assert "is the given one" in found["bits"].reason
    assert all(verdict.usage.calls == 0 for verdict in found.values())
