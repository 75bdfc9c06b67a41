"""The audit of a store: how often it names the positive when asked for the one nearest to the base (paper, section 4).

Every case has a collection of its own with two candidates in it, the negative first: a store that keeps to the order
where it sees no difference gets no case right by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from checkers.retrieval.audit.cases import KINDS, Groups, Kind, cases
from checkers.retrieval.audit.encoding import Encodings, Vectors
from checkers.retrieval.audit.figures import Count, Distances, Figure
from checkers.retrieval.audit.metrics import Pairs, distances, unit
from checkers.retrieval.audit.names import Metric
from checkers.retrieval.audit.stores.store import Store, StoreMetric
from checkers.retrieval.triplets import Triplet

_CHUNK = 2048
"""Pairs whose distances are computed at a time: what bounds the memory beside the vectors."""

_IDS = ("negative", "positive")

_Rows = npt.NDArray[np.intp]


def case_count(groups: Groups) -> int:
    """How many collections an audit of these triplets makes."""
    return sum(1 for triplets in groups.values() for kind in KINDS for _ in cases(triplets, kind))


def store_figures(
    subject: str,
    store: Store,
    metric: StoreMetric,
    encodings: Encodings,
    groups: Groups,
    *,
    on_case: Callable[[], None] | None = None,
) -> Iterator[Figure]:
    """A figure for each group; `encodings` hold all its sentences, `on_case` is told of each case that is done.

    The store says which one is nearest, not how near; the distances are computed beside it.

    Raises:
        StoreFailed: the store refused, or went away.
    """
    for relation, triplets in groups.items():
        rows = {kind: _rows(encodings, triplets, kind) for kind in KINDS}
        if not len(rows["triplet"]):
            continue
        counts = {kind: _asked(store, encodings.vectors, rows[kind], on_case) for kind in KINDS if len(rows[kind])}
        spread = _spread(metric, encodings.vectors, rows["triplet"])
        yield Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=spread)


def _rows(encodings: Encodings, triplets: Sequence[Triplet], kind: Kind) -> _Rows:
    """Rows of base, negative and positive (cases, 3)."""
    made = list(cases(triplets, kind))
    texts = (text for case in made for text in (case.base, case.negative, case.positive))
    return encodings.rows(texts).reshape(len(made), 3)


def _asked(store: Store, vectors: Vectors, rows: _Rows, on_case: Callable[[], None] | None) -> Count:
    right = ties = 0
    for base, *candidates in rows:
        pair = vectors[candidates]
        with store.fresh() as collection:
            collection.add(_IDS, pair)
            named = collection.nearest(vectors[base])
        # Of two that are the same, either answer is luck.
        same = bool((pair[0] == pair[1]).all())
        ties += same
        right += named == "positive" and not same
        if on_case is not None:
            on_case()
    return Count(cases=len(rows), right=right, ties=ties)


def _spread(metric: StoreMetric, vectors: Vectors, rows: _Rows) -> Distances:
    # Of vectors of length 1, the inner product is the cosine.
    by: Metric = "cosine" if metric == "inner_product" else metric
    found = np.empty((2, len(rows)))
    for first in range(0, len(rows), _CHUNK):
        part = slice(first, first + _CHUNK)
        base, negative, positive = (unit(vectors[rows[part, column]]) for column in range(3))
        found[0, part] = distances(by, Pairs(base, positive))
        found[1, part] = distances(by, Pairs(base, negative))
    means = found.mean(axis=1)
    return Distances(float(means[0]), float(means[1]), float(found.min()), float(found.max()))
