"""The sentence that tells a person what was found."""

from typing import Any

import pytest

from checkers.retrieval.explanation import reason_of
from schemas import DirectionFinding, RetrievalEvidence, TextMatch, WordDifference

REPLACED = WordDifference(kind="replaced", query=("nine",), matched=("ten",))
ADDED = WordDifference(kind="added", matched=("late",))
REMOVED = WordDifference(kind="removed", query=("now",))
MOVED = WordDifference(kind="moved", query=("then",))
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
    ("matched", "relation", "differences", "told"),
    [
        # Words tell a relation of words, and the judge one of sentences; what there is, where the other is missing.
        (match(0.1, 0.9, "Else.", "Same."), "quantifier_substitution", (REPLACED,), f"{BACK}; “ten” for “nine”."),
        (match(0.1, 0.9, "Else.", "Same."), "inference_error", (REPLACED,), f"{BACK}; Else."),
        (match(0.1, 0.9, "Else.", None), "word_swap", (), f"{BACK}; Else."),
        (match(0.1, 0.9), "other", (REPLACED,), f"{BACK}; “ten” for “nine”."),
        (match(0.1, 0.9), "other", (), f"{BACK}."),
        # Of two directions the worse is told.
        (match(0.1, 0.3, "First.", "Second."), "other", (), f"{NEITHER}; First."),
        (match(0.3, 0.1, "First.", "Second."), "other", (), f"{NEITHER}; Second."),
        # More words in the matched text never keep the query from following from it.
        (match(0.1, 0.1), "word_deletion", (ADDED, REMOVED),
         f"{NEITHER}; the matched text adds “late”, the matched text lacks “now”."),
        (match(0.1, 0.9), "word_deletion", (ADDED, REMOVED), f"{BACK}; the matched text lacks “now”."),
        (match(0.1, 0.9), "negative_expression", (ADDED,), f"{BACK}; the matched text adds “late”."),
        # Three are named, and the others counted.
        (match(0.1, 0.1), "word_swap", (REPLACED, MOVED, ADDED, REMOVED, REMOVED),
         f"{NEITHER}; “ten” for “nine”, “then” elsewhere, the matched text adds “late”, 2 more."),
    ],
)  # fmt: skip
def test_a_rejection_names_relation_direction_and_why(
    matched: TextMatch, relation: str, differences: tuple[WordDifference, ...], told: str
) -> None:
    head = "" if relation == "other" else f"{relation.replace('_', ' ').capitalize()}: "
    expected = head + (f"{told[0].lower()}{told[1:]}" if head else told)
    assert rejection(matched, relation=relation, differences=differences) == expected


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
