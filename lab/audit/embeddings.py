"""The audit of an embedding model or a store: how often the positive is closer to the base (paper, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from lab.audit.cases import KINDS, Count, Distances, Figure, Groups, Kind, Metric, cases
from lab.audit.encoding import Encodings, Vectors
from lab.audit.metrics import Floats, Whitening, distances, unit
from lab.audit.stores.address import StoreMetric
from lab.audit.stores.store import Store
from lab.triplets import Triplet

_CHUNK = 2048
"""Pairs whose distances are computed at a time: what bounds the memory beside the vectors."""

_TOO_FEW = "no more sentences than the model has dimensions: all are equally far apart"

_Rows = npt.NDArray[np.intp]
"""Rows of base, positive and negative (cases, 3)."""


def sentences_of(groups: Groups) -> Iterator[str]:
    """Every sentence that an audit of these triplets needs, some of them several times."""
    for triplet in chain.from_iterable(groups.values()):
        yield from (triplet.base, triplet.positive, triplet.negative)
        if triplet.unrelated is not None:
            yield triplet.unrelated


def embedding_figures(
    subject: str, encodings: Encodings, groups: Groups, metrics: Sequence[Metric]
) -> Iterator[Figure]:
    """A figure for each group and metric, in that order; `encodings` hold all sentences of the groups."""
    for relation, triplets in groups.items():
        if not triplets:
            continue
        rows = _rows_of_kinds(encodings, triplets)
        whitening = _whitening(encodings.vectors, rows["triplet"]) if "mahalanobis" in metrics else None
        usable = [metric for metric in metrics if metric != "mahalanobis" or whitening is not None]
        found = {kind: _distances(encodings.vectors, rows[kind], usable, whitening) for kind in rows}
        for metric in metrics:
            if metric in usable:
                counts = {kind: _count(*found[kind][metric]) for kind in rows}
                spread = _spread(*found["triplet"][metric])
                yield Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=spread)
            else:
                yield Figure(subject=subject, metric=metric, relation=relation, counts={}, missing=_TOO_FEW)


def store_figures(
    subject: str,
    store: Store,
    metric: StoreMetric,
    encodings: Encodings,
    groups: Groups,
    *,
    on_case: Callable[[], None] | None = None,
) -> Iterator[Figure]:
    """A figure for each group; `encodings` hold all its sentences, `on_case` is called after each case.

    The store says which one is nearest, not how near; the distances are computed beside it.

    Raises:
        StoreFailed: the store refused, or went away.
    """
    # Of vectors of length 1, the inner product is the cosine.
    plain: Metric = "cosine" if metric == "inner_product" else metric
    for relation, triplets in groups.items():
        if not triplets:
            continue
        rows = _rows_of_kinds(encodings, triplets)
        counts = {kind: _asked(store, encodings.vectors, rows[kind], on_case) for kind in rows}
        spread = _spread(*_distances(encodings.vectors, rows["triplet"], [plain], None)[plain])
        yield Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=spread)


def case_count(groups: Groups) -> int:
    """How many cases an audit of these triplets has."""
    return sum(1 for triplets in groups.values() for kind in KINDS for _ in cases(triplets, kind))


def _rows_of_kinds(encodings: Encodings, triplets: Sequence[Triplet]) -> dict[Kind, _Rows]:
    """Of the kinds that have a case."""
    found: dict[Kind, _Rows] = {}
    for kind in KINDS:
        made = list(cases(triplets, kind))
        if made:
            texts = (text for case in made for text in (case.base, case.positive, case.negative))
            found[kind] = encodings.rows(texts).reshape(len(made), 3)
    return found


def _whitening(vectors: Vectors, triplets: _Rows) -> Whitening | None:
    """By all sentences of the triplets; None where it would make all distances the same."""
    rows = triplets.ravel()
    whitening = Whitening(unit(vectors[rows[first : first + _CHUNK]]) for first in range(0, len(rows), _CHUNK))
    return whitening if whitening.tells(len(np.unique(rows))) else None


def _distances(
    vectors: Vectors, rows: _Rows, metrics: Sequence[Metric], whitening: Whitening | None
) -> dict[Metric, tuple[Floats, Floats]]:
    """By metric, of the positives and of the negatives."""
    found: dict[Metric, tuple[Floats, Floats]] = {
        metric: (np.empty(len(rows)), np.empty(len(rows))) for metric in metrics
    }
    for first in range(0, len(rows), _CHUNK):
        part = slice(first, first + _CHUNK)
        base, *others = (unit(vectors[rows[part, column]]) for column in range(3))
        for side, other in enumerate(others):
            for metric in metrics:
                found[metric][side][part] = distances(metric, base, other, whitening)
    return found


def _count(positive: Floats, negative: Floats) -> Count:
    return Count(cases=len(positive), right=int((positive < negative).sum()), ties=int((positive == negative).sum()))


def _spread(positive: Floats, negative: Floats) -> Distances:
    both = np.concatenate([positive, negative])
    return Distances(float(positive.mean()), float(negative.mean()), float(both.min()), float(both.max()))


def _asked(store: Store, vectors: Vectors, rows: _Rows, on_case: Callable[[], None] | None) -> Count:
    right = ties = 0
    for base, positive, negative in rows:
        # The negative first: a store that keeps to the order where it sees no difference gets no case right by it.
        candidates = vectors[[negative, positive]]
        nearest = store.nearest(candidates, vectors[base])
        # Of two that are the same, either answer is luck.
        same = bool((candidates[0] == candidates[1]).all())
        ties += same
        right += nearest == 1 and not same
        if on_case is not None:
            on_case()
    return Count(cases=len(rows), right=right, ties=ties)
