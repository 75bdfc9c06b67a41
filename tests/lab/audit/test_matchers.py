"""Text matchers are audited in both orders, and waited for."""

from functools import partial
from typing import Any

import pytest

from assay.config import default_configuration
from checkers.model_patience import ModelLost, ModelPatience
from lab.audit.cases import CannotAudit, Count, Figure
from lab.audit.measuring import ORDERS
from lab.audit.runs import audit_matcher
from lab.audit.source import AuditTriplets
from lab.triplets import Triplet
from models.meter import MeteredGrader
from models.protocol import ModelFailed, ModelUnavailable
from tests.support.graders import ScriptedGrader

BASE = "the red car stopped"
TRIPLETS = [
    Triplet("t1", "word_deletion", BASE, "the car that is red stopped", "the car stopped", "it rains"),
    Triplet("t2", "word_deletion", "two dogs bark loudly", "loudly two dogs bark", "two dogs bark"),
]
SAME = Triplet("t", "word_swap", "a b", "b a", "a  b")


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Audits by a grader that finds a shorter text entailed by a longer, after it has raised what the test says."""

    async def run(
        *hindrances: Exception, triplets: Any = TRIPLETS, patience: float = 30.0
    ) -> tuple[dict[str, Figure], ScriptedGrader]:
        grader = ScriptedGrader(share_of_words, *hindrances)
        monkeypatch.setattr("lab.audit.runs.build_model", lambda _: MeteredGrader(grader))
        monkeypatch.setattr("lab.audit.runs.ModelPatience", partial(ModelPatience, seconds=patience))
        groups = AuditTriplets({triplets[0].relation: triplets})
        found = await audit_matcher("judge", groups, default_configuration(["retrieval"]))
        return {figure.metric: figure for figure in found}, grader

    return run


def share_of_words(reference: str, sentence: str) -> float:
    words = set(sentence.split())
    return len(words & set(reference.split())) / len(words)


async def test_a_deletion_shows_in_the_order_in_which_the_text_must_entail_the_base(audited: Any) -> None:
    found, grader = await audited()
    assert list(found) == list(ORDERS)
    assert found["text_to_base"].counts["triplet"] == Count(cases=2, right=2)
    # All that a shortened text says stands in the base: this order cannot tell them apart, or prefers the negative.
    assert found["base_to_text"].counts["triplet"] == Count(cases=2, right=0, ties=1)
    assert found["both"].counts["triplet"] == Count(cases=2, right=1)
    assert found["text_to_base"].counts["control"] == Count(cases=2, right=2)
    assert found["text_to_base"].counts["unrelated"] == Count(cases=1, right=1)
    distances = found["text_to_base"].distances
    assert (distances.positive, distances.negative) == pytest.approx((0.0, 0.25))
    # Every text of a triplet is asked about once a direction.
    to_query = [claims.sentences for claims in grader.graded if claims.reference == BASE]
    assert [sorted(texts) for texts in to_query] == [
        ["it rains", "loudly two dogs bark", "the car stopped", "the car that is red stopped"]
    ]
    assert len(grader.graded) == (1 + 4) + (1 + 3)


async def test_a_text_that_is_the_base_needs_no_question(audited: Any) -> None:
    found, grader = await audited(triplets=[SAME])
    assert found["both"].counts == {"triplet": Count(cases=1, right=0, ties=1)}
    assert len(grader.graded) == 2


async def test_an_answer_that_cannot_be_used_is_no_figure(audited: Any) -> None:
    mute = ModelFailed("nothing to say", cause="judge_failed")
    found, _ = await audited(mute)
    assert found["both"].counts["triplet"].cases == 1
    with pytest.raises(CannotAudit, match="decided no triplet: nothing to say"):
        await audited(mute, triplets=[SAME])


async def test_an_outage_shorter_than_the_patience_is_waited_for_and_a_longer_one_is_not(audited: Any) -> None:
    away = [ModelUnavailable("gone for lunch", retry_after=0.0) for _ in range(3)]
    found, grader = await audited(*away)
    assert found["both"].counts["triplet"].cases == 2
    assert grader.hindrances == []
    with pytest.raises(ModelLost, match="gone for lunch"):
        await audited(*away, patience=0.0)
