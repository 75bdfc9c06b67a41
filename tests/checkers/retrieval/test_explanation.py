"""The sentence that tells a person what was found."""

from typing import Any

import pytest

from checkers.retrieval.explanation import reason_of
from schemas import DirectionFinding, RetrievalEvidence, TextMatch, WordDifference

REPLACED = WordDifference(kind="replaced", query=("nine",), matched=("ten",))
ADDED = WordDifference(kind="added", matched=("late",))
REMOVED = WordDifference(kind="removed", query=("now",))


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


def test_words_tell_a_relation_of_words_and_the_judge_one_of_sentences():
    matched = match(0.1, 0.9, "The hours differ.", "All is said.")
    words = rejection(matched, relation="quantifier_substitution", differences=(REPLACED,))
    assert words == (
        "Quantifier substitution: the query does not follow from the matched text (0.10); “ten” for “nine”."
    )
    sentences = rejection(matched, relation="inference_error", differences=(REPLACED,))
    assert sentences == "Inference error: the query does not follow from the matched text (0.10); The hours differ."


@pytest.mark.parametrize(("relation", "name"), [("word_swap", "Word swap: the"), ("other", "The")])
def test_what_there_is_tells_where_the_other_is_missing(relation, name):
    head = f"{name} matched text does not follow from the query (0.10)"
    said = match(0.9, 0.1, None, "It says more.")
    assert rejection(said, relation=relation) == f"{head}; It says more."
    assert rejection(match(0.9, 0.1), relation=relation, differences=(REPLACED,)) == f"{head}; “ten” for “nine”."
    assert rejection(match(0.9, 0.1), relation=relation) == f"{head}."


@pytest.mark.parametrize(("there", "back", "told"), [(0.1, 0.3, "First."), (0.3, 0.1, "Second.")])
def test_of_two_directions_the_worse_is_told(there, back, told):
    assert rejection(match(there, back, "First.", "Second.")) == (
        f"The matched text and the query do not follow from each other (0.10); {told}"
    )


def test_words_that_only_one_text_has_are_told_where_they_can_be_at_fault():
    differences = (ADDED, REMOVED)
    assert rejection(match(0.1, 0.1), relation="word_deletion", differences=differences).endswith(
        "; the matched text adds “late”, the matched text lacks “now”."
    )
    # More words in the matched text never keep the query from following from it.
    assert rejection(match(0.1, 0.9), relation="word_deletion", differences=differences).endswith(
        "(0.10); the matched text lacks “now”."
    )
    assert rejection(match(0.1, 0.9), relation="negative_expression", differences=(ADDED,)).endswith("“late”.")


def test_three_differences_are_named_and_the_others_counted():
    moved = WordDifference(kind="moved", query=("then",))
    named = "“ten” for “nine”, “then” elsewhere, the matched text adds “late”"
    differences = (REPLACED, moved, ADDED, REMOVED, REMOVED)
    assert rejection(match(0.1, 0.1), relation="word_swap", differences=differences[:3]).endswith(f"; {named}.")
    assert rejection(match(0.1, 0.1), relation="word_swap", differences=differences).endswith(f"; {named}, 2 more.")


def test_long_texts_are_cut_and_stand_on_one_line():
    for length, shown in ((120, "x" * 120), (121, "x" * 119 + "…")):
        better = match(0.9, 0.9, text="x" * length)
        assert f"prefers q-1: “{shown}” (0.90)." in rejection(match(0.1, 0.1), better=better)
        assert f"; {shown}." in rejection(match(0.1, 0.9, "x" * length, None))
    assert "“a b”" in rejection(match(0.1, 0.1), better=match(0.9, 0.9, text="a\n\n b"))


@pytest.mark.parametrize(
    ("count", "told"), [(1, "The other candidate does not fit either."), (2, "None of 2 others fits.")]
)
def test_candidates_that_fail_as_well_are_counted(count, told):
    failing = (match(0.1, 0.1),) * count
    assert rejection(match(0.1, 0.1), candidates=failing).endswith(f". {told}")
