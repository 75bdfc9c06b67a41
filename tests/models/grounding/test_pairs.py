"""Pairs through a network together: nothing cut, nothing mixed up, no influence of one on another."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.grounding.pairs import (
    Pair,
    PairScorer,
    TooManyTokens,
    TorchNetwork,
    size_of,
)
from models.model_loading import batches_of
from tests.models.grounding.setting import random_bert, sigmoid_of, spelling_tokenizer

LIMIT = 512

TEXTS = st.text("abc .", max_size=60)


@pytest.fixture(scope="module")
def network() -> TorchNetwork:
    return TorchNetwork(random_bert())


@pytest.fixture(scope="module")
def scorer(network: TorchNetwork) -> PairScorer:
    return PairScorer(spelling_tokenizer(), network, sigmoid_of, limit=LIMIT)


def scores(scorer: PairScorer, pairs: list[Pair]) -> list[float]:
    rows = scorer.rows(pairs)
    found = {
        index: score
        for batch in scorer.batches(rows)
        for index, score in zip(batch, scorer.run([rows[index] for index in batch]), strict=True)
    }
    return [found[index] for index in range(len(pairs))]


@given(
    pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12),
    budget=st.integers(1, 2000),
    order=st.randoms(use_true_random=False),
)
def test_a_score_does_not_depend_on_what_else_is_scored(
    network: TorchNetwork, scorer: PairScorer, pairs: list[Pair], budget: int, order: Random
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


def test_text_that_is_no_valid_unicode_is_scored(scorer: PairScorer) -> None:
    assert len(scores(scorer, [("lone \ud800", "\udfff")])) == 1
