"""What is counted when a store is asked about triplets."""

import numpy as np
import pytest

from lab.audit.encoding import Encodings
from lab.audit.measuring import case_count, embedding_figures, store_figures
from lab.audit.stores.address import StoreMetric
from lab.audit.stores.store import StoreFailed
from lab.triplets import Triplet
from tests.support.stores import opened

RNG = np.random.default_rng(3)


def triplets(count: int, relation: str = "word_swap", *, unrelated: bool = True) -> list[Triplet]:
    return [
        Triplet(
            id=str(number),
            relation=relation,
            base=f"{relation} base {number}",
            positive=f"{relation} positive {number}",
            negative=f"{relation} negative {number}",
            unrelated=f"{relation} unrelated {number}" if unrelated else None,
        )
        for number in range(count)
    ]


def encodings_of(groups: dict[str, list[Triplet]], dimension: int = 12) -> Encodings:
    """Any vectors at all."""
    texts = [t for rows in groups.values() for row in rows for t in (row.base, row.positive, row.negative)]
    texts += [row.unrelated for rows in groups.values() for row in rows if row.unrelated]
    vectors = RNG.normal(size=(len(texts), dimension)).astype(np.float32)
    return Encodings(texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


GROUPS = {
    "word_swap": triplets(21),
    "word_deletion": triplets(8, "word_deletion", unrelated=False),
}


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "manhattan", "bray_curtis", "lance_williams"])
def test_an_exact_store_counts_what_the_audit_of_embeddings_counts(metric):
    encodings = encodings_of(GROUPS)
    done: list[int] = []
    with opened("faiss:", metric, dimension=12) as store:
        found = list(store_figures("s", store, metric, encodings, GROUPS, on_case=lambda: done.append(1)))
    expected = list(embedding_figures("s", encodings, GROUPS, [metric]))
    assert [figure.relation for figure in found] == ["word_swap", "word_deletion"]
    assert [figure.counts for figure in found] == [figure.counts for figure in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.distances.positive == pytest.approx(other.distances.positive)
        assert one.distances.negative == pytest.approx(other.distances.negative)
        assert (one.distances.least, one.distances.largest) == pytest.approx(
            (other.distances.least, other.distances.largest)
        )
    # Of 21 one has no neighbour; the others come with no unrelated text.
    assert len(done) == case_count(GROUPS) == (21 + 20 + 21) + (8 + 8)


def test_the_inner_product_of_vectors_of_length_one_is_their_cosine():
    encodings = encodings_of(GROUPS)
    found = {}
    for metric in ("cosine", "inner_product"):
        with opened("faiss:", metric, dimension=12) as store:
            found[metric] = [
                (figure.counts, figure.distances) for figure in store_figures("s", store, metric, encodings, GROUPS)
            ]
    assert found["cosine"] == found["inner_product"]


class Scripted:
    """A store whose answer is given; keeps the candidates that it was handed."""

    def __init__(self, answer: int) -> None:
        self.answer = answer
        self.candidates: list[list[list[float]]] = []

    def nearest(self, candidates: np.ndarray, query: np.ndarray) -> int:
        self.candidates.append(candidates.tolist())
        return self.answer


METRIC: StoreMetric = "cosine"


def test_what_is_the_same_is_a_tie_and_never_right():
    rows = [Triplet("1", "word_swap", "a", "b", "b"), Triplet("2", "word_swap", "a", "b", "c")]
    vectors = np.array([[1, 0], [0, 1], [0.5, 0.5]], dtype=np.float32)
    store = Scripted(1)
    (figure,) = store_figures("s", store, METRIC, Encodings(["a", "b", "c"], vectors), {"word_swap": rows})
    assert (figure.counts["triplet"].cases, figure.counts["triplet"].right, figure.counts["triplet"].ties) == (2, 1, 1)
    # The negative comes first: a store that takes the first of two alike is not rewarded.
    assert store.candidates == [[[0, 1], [0, 1]], [[0.5, 0.5], [0, 1]]]


def test_a_store_that_always_names_the_negative_is_never_right():
    groups = {"word_swap": triplets(4)}
    (figure,) = store_figures("s", Scripted(0), METRIC, encodings_of(groups), groups)
    assert {kind: count.accuracy for kind, count in figure.counts.items()} == {
        "triplet": 0.0,
        "control": 0.0,
        "unrelated": 0.0,
    }


def test_a_store_that_goes_away_ends_the_audit():
    groups = {"word_swap": triplets(4)}

    class Failing(Scripted):
        def nearest(self, candidates: np.ndarray, query: np.ndarray) -> int:
            raise StoreFailed("gone")

    with pytest.raises(StoreFailed, match="gone"):
        list(store_figures("s", Failing(0), METRIC, encodings_of(groups), groups))
