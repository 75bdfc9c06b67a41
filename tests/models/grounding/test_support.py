"""The best piece counts, nothing is cut."""

import pytest

from models.grounding.pairs import TooManyTokens
from models.grounding.support import ClaimComparison, PieceSupport, best_supports
from tests.models.grounding.setting import believing_scorer, has_words


def test_the_best_of_several_pieces_counts_and_the_first_of_equal_ones() -> None:
    scorer, _ = believing_scorer(has_words)

    (there, nowhere) = best_supports(
        scorer, [ClaimComparison(("a b", "c d", "d c"), "c"), ClaimComparison(("a b", "c d"), "x")]
    )

    assert there == PieceSupport(pytest.approx(0.982, abs=1e-4), "c d", 1)
    assert isinstance(nowhere, PieceSupport)
    assert nowhere.score < 0.02
    assert nowhere.place == 0


def test_a_piece_too_long_beside_its_claim_is_divided_and_all_of_it_is_read() -> None:
    scorer, network = believing_scorer(has_words, limit=100)
    piece = " ".join(f"word{number}" for number in range(100))

    (support,) = best_supports(scorer, [ClaimComparison((piece,), "word99")])

    assert isinstance(support, PieceSupport)
    assert support.score > 0.5
    read = {word for each in network.passes for premise, _ in each for word in premise.split()}
    assert read == set(piece.split())


def test_a_claim_that_leaves_no_room_is_refused_and_the_others_are_not() -> None:
    scorer, _ = believing_scorer(has_words, limit=100)
    long = "a" * 90

    refused, fits, judged = best_supports(
        scorer,
        [
            ClaimComparison(("b " * 40, "c"), long),
            ClaimComparison(("c",), long),
            ClaimComparison(("b " * 80, "c"), "c"),
        ],
    )

    assert isinstance(refused, TooManyTokens)
    assert "93 of the 100 tokens" in str(refused)
    assert isinstance(fits, PieceSupport)
    assert isinstance(judged, PieceSupport)
    assert judged.score > 0.5
