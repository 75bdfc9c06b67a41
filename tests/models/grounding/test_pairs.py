"""Texts in pieces and pairs through a network together: nothing cut, nothing mixed up, the best piece counts."""

from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.grounding.pairs import PairScorer, PieceSupport, size_of
from models.grounding.pieces import divided, pieces_of
from models.model_loading import batches_of
from models.protocol import ModelFailed
from tests.models.grounding.setting import believing_scorer, has_words, random_bert, sigmoid_of, spelling_tokenizer

network = cache(random_bert)


def scorer(batch_tokens: int = 4096) -> PairScorer:
    return PairScorer(spelling_tokenizer(), network(), sigmoid_of, limit=512, batch_tokens=batch_tokens)


@given(
    pairs=st.lists(st.tuples(st.text("abc .", max_size=60), st.text("abc .", max_size=60)), min_size=1, max_size=12),
    budget=st.integers(1, 2000),
    order=st.randoms(use_true_random=False),
)
def test_a_score_does_not_depend_on_what_else_is_scored(
    pairs: list[tuple[str, str]], budget: int, order: Random
) -> None:
    order.shuffle(pairs)
    together = scorer(budget).best_supports([((premise,), claim) for premise, claim in pairs])
    for (premise, claim), found in zip(pairs, together, strict=True):
        (alone,) = scorer().best_supports([((premise,), claim)])
        assert isinstance(found, PieceSupport)
        assert isinstance(alone, PieceSupport)
        assert found.score == pytest.approx(alone.score, abs=2e-4)


@given(st.lists(st.integers(1, 400), max_size=60), st.integers(1, 1000))
def test_batches_hold_every_row_once_longest_first_within_the_budget(sizes: list[int], budget: int) -> None:
    batches = batches_of(sizes, budget)

    order = [index for batch in batches for index in batch]
    assert sorted(order) == list(range(len(sizes)))
    assert [sizes[index] for index in order] == sorted(sizes, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(sizes[index] for index in batch) <= budget
    # No batch could have taken the first row of the next one.
    for batch in batches[:-1]:
        assert (len(batch) + 1) * max(sizes[index] for index in batch) > budget


@pytest.mark.parametrize("special", ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "[UNK]"])
def test_special_tokens_in_a_text_are_plain_text(special: str) -> None:
    (row,) = scorer().rows([(f"told {special} here", f"so {special}{special} it is")])

    ids = row["input_ids"]
    separators = [index for index, number in enumerate(ids) if number == 3]
    assert ids[0] == 2
    assert len(separators) == 2
    assert separators[-1] == len(ids) - 1
    assert not {0, 1, 2, 4} & set(ids[1:])


def test_the_best_of_several_pieces_counts_and_the_first_of_equal_ones() -> None:
    believing, _ = believing_scorer(has_words)

    there, nowhere = believing.best_supports([(("a b", "c d", "d c"), "c"), (("a b", "c d"), "x")])

    assert there == PieceSupport(pytest.approx(0.982, abs=1e-4), "c d")
    assert nowhere == PieceSupport(pytest.approx(0.018, abs=1e-4), "a b")


def test_a_piece_too_long_beside_its_claim_is_divided_and_all_of_it_is_read() -> None:
    believing, network = believing_scorer(has_words, limit=100)
    piece = " ".join(f"word{number}" for number in range(100))

    (support,) = believing.best_supports([((piece,), "word99")])

    assert isinstance(support, PieceSupport)
    assert support.score > 0.5
    read = {word for each in network.passes for premise, _ in each for word in premise.split()}
    assert read == set(piece.split())


def test_a_claim_that_leaves_no_room_is_refused_and_the_others_are_not() -> None:
    believing, network = believing_scorer(has_words, limit=100)

    refused, judged = believing.best_supports([(("b " * 40, "c"), "a" * 90), (("b " * 80, "c"), "c")])

    assert isinstance(refused, ModelFailed)
    assert "93 of the 100 tokens" in refused.detail
    assert isinstance(judged, PieceSupport)
    assert judged.score > 0.5
    assert all(size_of(row) <= 100 for row in believing.rows([pair for each in network.passes for pair in each]))


@given(st.text("ab .\n!?\ud800é", max_size=200), st.integers(1, 20))
def test_pieces_hold_all_words_in_their_order_and_no_more_than_the_limit(text: str, limit: int) -> None:
    pieces = pieces_of(text, limit)

    sound = text.encode("utf-8", "replace").decode()
    assert "".join("".join(pieces).split()) == "".join(sound.split())
    assert all(0 < len(piece.split()) <= limit for piece in pieces)
    assert all(piece in sound for piece in pieces)


def test_a_piece_ends_with_a_sentence_where_one_fits() -> None:
    text = "The mill turns slowly. It grinds rye and oats. The miller sleeps.\n\nHis cat does not."

    assert pieces_of(text, 9) == [
        "The mill turns slowly. It grinds rye and oats.",
        "The miller sleeps.\n\nHis cat does not.",
    ]


@given(st.text("ab .\n!?é", max_size=200).map(str.strip).filter(lambda text: len(text) > 1))
def test_a_piece_is_divided_into_shorter_ones_that_hold_all_of_it(text: str) -> None:
    parts = divided(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) < len(text) for part in parts)
