"""The sentence that tells a person what was found."""

from typing import Any

import pytest

from checkers.retrieval.evidence import reason_of
from schemas import DirectionFinding, RetrievalEvidence, TextMatch

NEITHER = "The matched text and the query do not follow from each other (0.10)"
BACK = "The query does not follow from the matched text (0.10)"


def match(there: float, back: float, *reasons: str | None, text: str = "It opens at ten.") -> TextMatch:
    """A stored text with the scores and reasons of both directions, text to query first."""
    to_query, to_text = reasons or (None, None)
    return TextMatch(
        id="q-1",
        text=text,
        vector_score=0.9,
        score=min(there, back),
        text_to_query=DirectionFinding(score=there, reason=to_query),
        query_to_text=DirectionFinding(score=back, reason=to_text),
    )


def rejection(matched: TextMatch, **fields: Any) -> str:
    """The reason of a rejected cache hit."""
    given = {"store": "cache", "needs": (), "query": "Does it open at nine?", "threshold": 0.5} | fields
    return reason_of(RetrievalEvidence(matched=matched, **given), accepted=False)


@pytest.mark.parametrize(
    ("matched", "said"),
    [
        (match(0.1, 0.9, "Else.", "Same."), f"{BACK}; Else."),
        (match(0.1, 0.9), f"{BACK}."),
        # Of two directions the worse is given.
        (match(0.1, 0.3, "First.", "Second."), f"{NEITHER}; First."),
        (match(0.3, 0.1, "First.", "Second."), f"{NEITHER}; Second."),
    ],
)
def test_a_rejection_names_direction_and_why(matched: TextMatch, said: str) -> None:
    assert rejection(matched) == said


def test_long_texts_are_cut_and_stand_on_one_line() -> None:
    for length, shown in ((120, "x" * 120), (121, "x" * 119 + "…")):
        better = match(0.9, 0.9, text="x" * length)
        assert f"prefers q-1: “{shown}” (0.90)." in rejection(match(0.1, 0.1), better=better)
        assert f"; {shown}." in rejection(match(0.1, 0.9, "x" * length, None))
    assert "“a b”" in rejection(match(0.1, 0.1), better=match(0.9, 0.9, text="a\n\n b"))


@pytest.mark.parametrize(
    ("count", "told"), [(1, "The other candidate does not fit either."), (2, "None of 2 others fits.")]
)
def test_candidates_that_fail_as_well_are_counted(count: int, told: str) -> None:
    failing = (match(0.1, 0.1),) * count
    assert rejection(match(0.1, 0.1), candidates=failing).endswith(f". {told}")
