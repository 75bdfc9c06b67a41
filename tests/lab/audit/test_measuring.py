"""Figures of embeddings and of stores: seven distances, each sentence once, ties wrong, the control by neighbours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.cli.common import CannotRun
from lab.audit import METRICS, STORE_METRICS
from lab.audit.embedding import encoded
from lab.audit.measuring import KINDS, embedding_rows, sentences_of, store_rows
from lab.audit.stores import open_store
from lab.audit.triplets import Triplet


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
    return Triplet(relation="word_swap", base=base, positive=positive, negative=negative, unrelated=unrelated)


def audit(model: Placed, triplets: Sequence[Triplet], *metrics: Any) -> list[Any]:
    groups = {"word_swap": triplets}
    return list(embedding_rows(model.name, encoded(model, sentences_of(groups)), groups, metrics or METRICS))


def counts(row: dict[str, Any], kind: str = "triplet") -> tuple[int, int, int]:
    """Cases, right ones and ties."""
    return tuple(row[f"{kind}_{name}"] for name in ("cases", "right", "ties"))


def test_closer_is_right_farther_is_wrong_and_as_close_is_wrong_too() -> None:
    model = Placed({"b": (1, 0, 0), "near": (0.9, 0.1, 0), "far": (0, 1, 0), "as far": (0, 0, 1)})
    pairs = (("near", "far"), ("far", "near"), ("far", "as far"), ("near", "near"))
    triplets = [triplet("b", *texts) for texts in pairs]
    for row in audit(model, triplets, "cosine", "euclidean", "manhattan", "bray_curtis", "lance_williams"):
        assert counts(row) == (4, 1, 2), row["metric"]
        assert row["triplet_accuracy"] == 0.25


def test_the_control_has_the_neighbours_positive_for_a_negative() -> None:
    model = Placed({"b1": (1, 0), "p1": (0.9, 0.1), "n1": (1, 0.01), "b2": (0, 1), "p2": (0.1, 0.9), "n2": (0.01, 1)})
    triplets = [triplet("b1", "p1", "n1"), triplet("b2", "p2", "n2")]
    (row,) = audit(model, triplets, "cosine")
    assert row["triplet_accuracy"] == 0.0
    assert counts(row, "control") == (2, 2, 0)
    assert row["unrelated_accuracy"] is None


STORED = {"word_swap": [triplet(f"b{n}", f"p{n}", f"n{n}", "u" if n < 3 else None) for n in range(21)]}


@pytest.mark.parametrize("metric", STORE_METRICS)
def test_an_exact_store_counts_what_the_audit_of_embeddings_counts(metric: Any) -> None:
    vectors = encoded(Drawn(), sentences_of(STORED))
    with open_store("faiss", metric=metric, dimension=8) as store:
        (found,) = store_rows("s", store, metric, vectors, STORED)
    (exact,) = embedding_rows("s", vectors, STORED, ["cosine" if metric == "inner_product" else metric])
    assert found == exact | {"metric": metric}
    # The odd one has no neighbour.
    assert [found[f"{kind}_cases"] for kind in KINDS] == [21, 20, 3]


def stored(answer: int, *triplets: Triplet) -> tuple[Any, list[Any]]:
    """What is counted of a store that always gives this answer, and the candidates that it was handed."""
    handed: list[Any] = []

    def nearest(candidates: Any, query: Any) -> int:
        handed.append(candidates)
        return answer

    groups = {"word_swap": triplets}
    vectors = encoded(Placed({"a": (1, 0), "b": (0, 1), "c": (0.6, 0.8)}), sentences_of(groups))
    (row,) = store_rows("s", nearest, "cosine", vectors, groups)
    return counts(row), handed


def test_what_is_the_same_is_a_tie_and_never_right() -> None:
    count, candidates = stored(1, triplet("a", "b", "b"), triplet("a", "b", "c"))
    assert count == (2, 1, 1)
    # The negative comes first: a store that takes the first of two alike is not rewarded.
    assert np.array(candidates) == pytest.approx(np.array([[[0, 1], [0, 1]], [[0.6, 0.8], [0, 1]]]))
    assert stored(0, triplet("a", "b", "c"))[0] == (1, 0, 0)


def test_mahalanobis_is_left_out_where_it_would_tell_nothing() -> None:
    few = audit(Drawn(), [triplet("a", "b", "c"), triplet("d", "e", "f")], "mahalanobis", "cosine")
    assert (counts(few[0]), few[0]["triplet_accuracy"], few[1]["triplet_accuracy"] is None) == ((0, 0, 0), None, False)
    (enough,) = audit(Drawn(), [triplet(f"b{n}", f"p{n}", f"n{n}") for n in range(9)], "mahalanobis")
    assert enough["triplet_cases"] == 9


@pytest.mark.parametrize(
    ("rows", "told"), [([[1.0, float("nan")]], "not finite"), ([1.0], r"shape \(1,\) for 1 texts")]
)
def test_a_model_that_gives_no_vectors_is_unusable(rows: Any, told: str) -> None:
    class Broken(Placed):
        def encode(self, sentences: Sequence[str]) -> Any:
            return rows

    with pytest.raises(CannotRun, match=told):
        encoded(Broken(), ["a"])
