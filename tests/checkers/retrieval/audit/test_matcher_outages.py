"""What an audit of text matchers waits for, and what it does not."""

from functools import partial

import pytest

from assay.cli.front_door import CommandLine
from assay.config import default_configuration
from checkers.oracle.meter import MeteredGrader
from checkers.oracle.protocol import OracleUnavailable
from checkers.patience import ModelLost, ModelPatience
from checkers.retrieval.audit.cases import Figure
from checkers.retrieval.audit.runs import audit_matcher
from checkers.retrieval.audit.source import AuditTriplets
from checkers.retrieval.triplets import Triplet
from tests.support.graders import ScriptedGrader

TRIPLETS = AuditTriplets({"word_swap": [Triplet("t", "word_swap", "a b", "a c", "b c")]})


def hindered(*hindrances: Exception) -> ScriptedGrader:
    """Grades after it has raised what the test says."""
    return ScriptedGrader(lambda reference, sentence: 0.5, *hindrances)


async def audited(oracle: ScriptedGrader, patience: float, monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    monkeypatch.setattr("checkers.retrieval.audit.runs.build_oracle", lambda _: MeteredGrader(oracle))
    monkeypatch.setattr("checkers.retrieval.audit.runs.ModelPatience", partial(ModelPatience, seconds=patience))
    configured = default_configuration(["retrieval"])
    return await audit_matcher("judge", TRIPLETS, configured, CommandLine())


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
