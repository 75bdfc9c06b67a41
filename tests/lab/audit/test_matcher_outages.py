"""What an audit of text matchers waits for, and what it does not."""

from functools import partial

import pytest

from assay.config import default_configuration
from checkers.patience import ModelLost, ModelPatience
from lab.audit.cases import Figure
from lab.audit.runs import audit_matcher
from lab.audit.source import AuditTriplets
from lab.triplets import Triplet
from models.meter import MeteredGrader
from models.protocol import OracleUnavailable
from tests.support.graders import ScriptedGrader

TRIPLETS = AuditTriplets({"word_swap": [Triplet("t", "word_swap", "a b", "a c", "b c")]})


def hindered(*hindrances: Exception) -> ScriptedGrader:
    """Grades after it has raised what the test says."""
    return ScriptedGrader(lambda reference, sentence: 0.5, *hindrances)


async def audited(oracle: ScriptedGrader, patience: float, monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    monkeypatch.setattr("lab.audit.runs.build_oracle", lambda _: MeteredGrader(oracle))
    monkeypatch.setattr("lab.audit.runs.ModelPatience", partial(ModelPatience, seconds=patience))
    configured = default_configuration(["retrieval"])
    return await audit_matcher("judge", TRIPLETS, configured)


def away() -> OracleUnavailable:
    return OracleUnavailable("gone for lunch", retry_after=0.0)


async def test_an_outage_shorter_than_the_patience_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = hindered(away(), away(), away())
    found = await audited(oracle, 30.0, monkeypatch)
    assert [figure.counts["triplet"].cases for figure in found] == [1, 1, 1]
    assert oracle.hindrances == []


async def test_a_longer_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelLost, match="gone for lunch"):
        await audited(hindered(away(), away()), 0.0, monkeypatch)
