"""Texts in pieces and pairs through a network together: nothing cut, nothing mixed up, the best piece counts."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.grounding.pairs import (
    Network,
    Pair,
    PairScorer,
    PieceSupport,
    TooManyTokens,
    size_of,
    torch_network,
)
from models.grounding.pieces import halves_of, pieces_of
from models.model_loading import batches_of
from tests.models.grounding.setting import believing_scorer, has_words, random_bert, sigmoid_of, spelling_tokenizer

LIMIT = 512

TEXTS = st.text("abc .", max_size=60)


@pytest.fixture(scope="module")
def network() -> Network:
    return torch_network(random_bert())


@pytest.fixture(scope="module")
def scorer(network: Network) -> PairScorer:
    return PairScorer(spelling_tokenizer(), network, sigmoid_of, limit=LIMIT)


def scores(scorer: PairScorer, pairs: list[Pair]) -> list[float]:
    rows = scorer.rows(pairs)
    found = {
        index: score
        for batch in batches_of([size_of(row) for row in rows], scorer._batch_tokens)
        for index, score in zip(batch, scorer.run([rows[index] for index in batch]), strict=True)
    }
    return [found[index] for index in range(len(pairs))]


@given(
    pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12),
    budget=st.integers(1, 2000),
    order=st.randoms(use_true_random=False),
)
def test_a_score_does_not_depend_on_what_else_is_scored(
    network: Network, scorer: PairScorer, pairs: list[Pair], budget: int, order: Random
) -> None:
    shuffled = list(pairs)
    order.shuffle(shuffled)
    together = PairScorer(spelling_tokenizer(), network, sigmoid_of, limit=LIMIT, batch_tokens=budget)

    scored = dict(zip(shuffled, scores(together, shuffled), strict=True))

    for pair in pairs:
        (alone,) = scores(scorer, [pair])
        assert scored[pair] == pytest.approx(alone, abs=1e-5)


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


def test_a_pair_beyond_the_limit_is_refused_and_never_cut(scorer: PairScorer) -> None:
    pair = ("word " * 200, "it left")

    (row,) = scorer.rows([pair])

    assert size_of(row) > LIMIT
    with pytest.raises(TooManyTokens, match=f"{size_of(row)} tokens long; the network reads {LIMIT}"):
        scores(scorer, [pair])


@pytest.mark.parametrize("special", ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "[UNK]"])
def test_special_tokens_in_a_text_are_plain_text(scorer: PairScorer, special: str) -> None:
    (row,) = scorer.rows([(f"told {special} here", f"so {special}{special} it is")])

    ids = row["input_ids"]
    separators = [index for index, number in enumerate(ids) if number == 3]
    assert ids[0] == 2
    assert len(separators) == 2
    assert separators[-1] == len(ids) - 1
    assert not {0, 1, 2, 4} & set(ids[1:])


def test_the_best_of_several_pieces_counts_and_the_first_of_equal_ones() -> None:
    scorer, _ = believing_scorer(has_words)

    (there, nowhere) = scorer.best_supports([(("a b", "c d", "d c"), "c"), (("a b", "c d"), "x")])

    assert there == PieceSupport(pytest.approx(0.982, abs=1e-4), "c d", 1)
    assert isinstance(nowhere, PieceSupport)
    assert nowhere.score < 0.02
    assert nowhere.place == 0


def test_a_piece_too_long_beside_its_claim_is_divided_and_all_of_it_is_read() -> None:
    scorer, network = believing_scorer(has_words, limit=100)
    piece = " ".join(f"word{number}" for number in range(100))

    (support,) = scorer.best_supports([((piece,), "word99")])

    assert isinstance(support, PieceSupport)
    assert support.score > 0.5
    read = {word for each in network.passes for premise, _ in each for word in premise.split()}
    assert read == set(piece.split())


def test_a_claim_that_leaves_no_room_is_refused_and_the_others_are_not() -> None:
    scorer, _ = believing_scorer(has_words, limit=100)
    long = "a" * 90

    refused, fits, judged = scorer.best_supports(
        [
            (("b " * 40, "c"), long),
            (("c",), long),
            (("b " * 80, "c"), "c"),
        ],
    )

    assert isinstance(refused, TooManyTokens)
    assert "93 of the 100 tokens" in str(refused)
    assert isinstance(fits, PieceSupport)
    assert isinstance(judged, PieceSupport)
    assert judged.score > 0.5


ANY_TEXT = st.text("ab .\n!?\ud800é", max_size=200)


@given(ANY_TEXT, st.integers(1, 20))
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


@given(st.text("ab .\n!?é", max_size=200))
def test_halves_hold_everything_but_white_space(text: str) -> None:
    halves = halves_of(text)

    assert "".join("".join(halves).split()) == "".join(text.split())
    assert len(halves) <= 2
    if len(text.strip()) > 1:
        assert all(len(half) < len(text) for half in halves)


def test_halves_are_cut_between_sentences_then_words_then_characters() -> None:
    assert halves_of("It is one. It is two. It is three.") == ["It is one. It is two.", "It is three."]
    assert halves_of("one two three") == ["one two", "three"]
    assert halves_of("一二三四") == ["一二", "三四"]
    assert halves_of("x") == ["x"]
