"""The best piece counts, nothing is cut, and only what somebody waits for is read."""

import pytest

from models.grounding.pairs import TooManyTokens
from models.grounding.support import Comparison, Support, best_supports
from models.local_grader import always
from tests.support.grounding import believing_scorer, has_words


def test_the_best_of_several_pieces_counts_and_the_first_of_equal_ones() -> None:
    scorer, _ = believing_scorer(has_words)

    (there, nowhere) = best_supports(
        scorer, [Comparison(("a b", "c d", "d c"), "c"), Comparison(("a b", "c d"), "x")], always
    )

    assert there == Support(pytest.approx(0.982, abs=1e-4), "c d", 1)
    assert isinstance(nowhere, Support)
    assert nowhere.score < 0.02
    assert nowhere.place == 0


def test_a_piece_too_long_beside_its_claim_is_divided_and_all_of_it_is_read() -> None:
    scorer, network = believing_scorer(has_words, limit=100)
    piece = " ".join(f"word{number}" for number in range(100))

    (support,) = best_supports(scorer, [Comparison((piece,), "word99")], always)

    assert isinstance(support, Support)
    assert support.score > 0.5
    read = {word for each in network.passes for premise, _ in each for word in premise.split()}
    assert read == set(piece.split())


def test_a_claim_that_leaves_no_room_is_refused_and_the_others_are_not() -> None:
    scorer, _ = believing_scorer(has_words, limit=100)
    long = "a" * 90

    refused, fits, judged = best_supports(
        scorer,
        [Comparison(("b " * 40, "c"), long), Comparison(("c",), long), Comparison(("b " * 80, "c"), "c")],
        always,
    )

    assert isinstance(refused, TooManyTokens)
    assert "93 of the 100 tokens" in str(refused)
    assert isinstance(fits, Support)
    assert isinstance(judged, Support)
    assert judged.score > 0.5


def test_pairs_of_many_comparisons_go_through_together_longest_first() -> None:
    scorer, network = believing_scorer(has_words, batch_tokens=64)

    best_supports(scorer, [Comparison((f"{'x' * (number % 7)}",), "y") for number in range(30)], always)

    lengths = [len(premise) for each in network.passes for premise, _ in each]
    assert lengths == sorted(lengths, reverse=True)
    assert len(network.passes) <= 6


def test_what_nobody_waits_for_any_more_is_not_read() -> None:
    scorer, network = believing_scorer(has_words, batch_tokens=1)
    comparisons = [Comparison((f"piece {number}",), "claim") for number in range(6)]

    found = best_supports(scorer, comparisons, lambda index: index == 2 or len(network.passes) < 2)

    read = [premise for each in network.passes for premise, _ in each]
    assert read == ["piece 0", "piece 1", "piece 2"]
    assert [one is not None for one in found] == [False, False, True, False, False, False]
