"""Figures of embeddings and of stores: each sentence once, ties wrong, the control by neighbours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.common import CannotRun, NotFinished
from lab.audit.cases import METRICS, Count, Triplet, all_cases, cases
from lab.audit.embedding import encoded
from lab.audit.measuring import embedding_figures, store_figures
from lab.audit.stores import open_store


class Placed:
    """Puts sentences where the test says; counts how often each was asked for."""

    name = "placed"

    def __init__(self, places: dict[str, Sequence[float]] | None = None) -> None:
        self.places = places or {}
        self.asked: list[str] = []

    def encode(self, sentences: Sequence[str]) -> Any:
        self.asked += sentences
        return np.array([self.places[sentence] for sentence in sentences], dtype=np.float32)


class Drawn(Placed):
    """Draws a place for each sentence, the same one every time."""

    def encode(self, sentences: Sequence[str]) -> Any:
        self.asked += sentences
        seeds = (int.from_bytes(sentence.encode()[:12], "big") + len(sentence) for sentence in sentences)
        return np.array([np.random.default_rng(seed).normal(size=8) for seed in seeds])


def triplet(base: str, positive: str, negative: str, unrelated: str | None = None) -> Triplet:
    return Triplet("t", "word_swap", base, positive, negative, unrelated)


def sentences(groups: dict[str, Sequence[Triplet]]) -> list[str]:
    return [text for case in all_cases(groups) for text in case]


def audit(model: Placed, triplets: Sequence[Triplet], *metrics: Any) -> list[Any]:
    groups = {"word_swap": triplets}
    return list(embedding_figures(model.name, encoded(model, sentences(groups)), groups, metrics or METRICS))


def test_closer_is_right_farther_is_wrong_and_as_close_is_wrong_too() -> None:
    model = Placed({"b": (1, 0, 0), "near": (0.9, 0.1, 0), "far": (0, 1, 0), "as far": (0, 0, 1)})
    triplets = [
        triplet("b", "near", "far"),
        triplet("b", "far", "near"),
        triplet("b", "far", "as far"),
        triplet("b", "near", "near"),
    ]
    for figure in audit(model, triplets, "cosine", "euclidean", "manhattan", "bray_curtis", "lance_williams"):
        assert figure.counts["triplet"] == Count(cases=4, right=1, ties=2), figure.metric
        assert figure.accuracy() == 0.25


def test_the_control_has_the_neighbours_positive_for_a_negative() -> None:
    model = Placed({"b1": (1, 0), "p1": (0.9, 0.1), "n1": (1, 0.01), "b2": (0, 1), "p2": (0.1, 0.9), "n2": (0.01, 1)})
    triplets = [triplet("b1", "p1", "n1"), triplet("b2", "p2", "n2")]
    (figure,) = audit(model, triplets, "cosine")
    assert figure.accuracy() == 0.0
    assert figure.counts["control"] == Count(cases=2, right=2)
    assert figure.accuracy("unrelated") is None


def test_the_odd_one_has_no_control_and_the_others_have_each_other() -> None:
    triplets = [triplet(f"b{n}", f"p{n}", f"n{n}", "u" if n == 2 else None) for n in range(5)]
    assert [negative for _, _, negative in cases(triplets, "control")] == ["p1", "p0", "p3", "p2"]
    assert list(cases(triplets, "unrelated")) == [("b2", "p2", "u")]
    assert [negative for _, _, negative in cases(triplets, "triplet")] == ["n0", "n1", "n2", "n3", "n4"]


STORED = {"word_swap": [triplet(f"b{n}", f"p{n}", f"n{n}", "u" if n < 3 else None) for n in range(21)]}


@pytest.mark.parametrize(
    "metric", ["cosine", "euclidean", "manhattan", "bray_curtis", "lance_williams", "inner_product"]
)
def test_an_exact_store_counts_what_the_audit_of_embeddings_counts(metric: Any) -> None:
    encodings = encoded(Drawn(), sentences(STORED))
    done: list[int] = []
    with open_store("faiss", metric=metric, dimension=8) as store:
        (found,) = store_figures("s", store, metric, encodings, STORED, on_case=lambda: done.append(1))
    (exact,) = embedding_figures("s", encodings, STORED, ["cosine" if metric == "inner_product" else metric])
    assert (found.metric, found.counts) == (metric, exact.counts)
    assert found.distances == exact.distances
    # The odd one has no neighbour.
    assert len(done) == len(all_cases(STORED)) == 21 + 20 + 3


class Scripted:
    """A store whose answer is given; keeps the candidates that it was handed."""

    def __init__(self, answer: int) -> None:
        self.answer = answer
        self.candidates: list[Any] = []

    def nearest(self, candidates: Any, query: Any) -> int:
        self.candidates.append(candidates.tolist())
        if self.answer < 0:
            raise NotFinished("gone")
        return self.answer


def stored(answer: int, triplets: Sequence[Triplet]) -> tuple[Any, list[Any]]:
    store = Scripted(answer)
    places = Placed({"a": (1, 0), "b": (0, 1), "c": (0.6, 0.8)})
    groups = {"word_swap": triplets}
    (figure,) = store_figures("s", store.nearest, "cosine", encoded(places, sentences(groups)), groups)
    return figure.counts["triplet"], store.candidates


def test_what_is_the_same_is_a_tie_and_never_right() -> None:
    count, candidates = stored(1, [triplet("a", "b", "b"), triplet("a", "b", "c")])
    assert count == Count(cases=2, right=1, ties=1)
    # The negative comes first: a store that takes the first of two alike is not rewarded.
    assert np.array(candidates) == pytest.approx(np.array([[[0, 1], [0, 1]], [[0.6, 0.8], [0, 1]]]))
    assert stored(0, [triplet("a", "b", "c")])[0] == Count(cases=1)
    with pytest.raises(NotFinished, match="gone"):
        stored(-1, [triplet("a", "b", "c")])


@given(st.lists(st.tuples(*[st.sampled_from("abcdefgh")] * 3), min_size=1, max_size=20))
def test_each_sentence_is_encoded_once_whatever_the_metrics(drawn: list[tuple[str, str, str]]) -> None:
    model = Drawn()
    triplets = [triplet(*one) for one in drawn]
    found = audit(model, triplets)
    assert sorted(model.asked) == sorted({text for one in drawn for text in one})
    assert [figure.metric for figure in found] == list(METRICS)
    accuracies = {figure.metric: figure.accuracy() for figure in found}
    assert accuracies["cosine"] == accuracies["euclidean"]


def test_mahalanobis_is_left_out_where_it_would_tell_nothing() -> None:
    few = audit(Drawn(), [triplet("a", "b", "c"), triplet("d", "e", "f")], "mahalanobis", "cosine")
    assert few[0].missing is not None
    assert (few[0].counts, few[0].accuracy(), few[1].missing) == ({}, None, None)
    (enough,) = audit(Drawn(), [triplet(f"b{n}", f"p{n}", f"n{n}") for n in range(9)], "mahalanobis")
    assert enough.counts["triplet"].cases == 9


@pytest.mark.parametrize(
    ("rows", "told"),
    [([[1.0, float("nan")]], "not finite"), ([1.0], r"shape \(1,\) for 1 texts"), ([[1.0], [2.0]], "shape")],
)
def test_a_model_that_gives_no_vectors_is_unusable(rows: Any, told: str) -> None:
    class Broken(Placed):
        def encode(self, sentences: Sequence[str]) -> Any:
            return rows

    with pytest.raises(CannotRun, match=told):
        encoded(Broken(), ["a"])
