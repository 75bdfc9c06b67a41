"""The figures of embeddings, of stores and of text matchers: how often the positive is closer to the base."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from checkers.retrieval.matching import TextFinding
from lab.audit.cases import KINDS, Count, Distances, Figure, Groups, Kind, Metric, cases
from lab.audit.encoding import Encodings, Vectors
from lab.audit.metrics import Floats, Whitening, distances, unit
from lab.audit.stores.address import StoreMetric
from lab.audit.stores.store import Store
from lab.triplets import Triplet
from models.concurrent import gather_or_cancel

ORDERS: Mapping[str, Callable[[float, float], float]] = {
    "base_to_text": lambda to_base, to_text: to_text,
    "text_to_base": lambda to_base, to_text: to_base,
    "both": min,
}
"""The scores of a text matcher, by name, where vectors have metrics; the distance is 1 less the score."""

Sides: TypeAlias = tuple[Floats, Floats]
"""The distances of the positives from their bases, and those of the negatives."""

_Rows: TypeAlias = npt.NDArray[np.intp]
"""Rows of base, positive and negative (cases, 3)."""

_CHUNK = 2048
"""Pairs whose distances are computed at a time: what bounds the memory beside the vectors."""

_TOO_FEW = "no more sentences than the model has dimensions: all are equally far apart"


def sentences_of(groups: Groups) -> Iterator[str]:
    """Every sentence that an audit of these triplets needs, some of them several times."""
    for triplet in chain.from_iterable(groups.values()):
        yield from (triplet.base, triplet.positive, triplet.negative)
        if triplet.unrelated is not None:
            yield triplet.unrelated


def case_count(groups: Groups) -> int:
    """The number of cases in an audit of these triplets."""
    return sum(1 for triplets in groups.values() for kind in KINDS for _ in cases(triplets, kind))


def embedding_figures(
    subject: str, encodings: Encodings, groups: Groups, metrics: Sequence[Metric]
) -> Iterator[Figure]:
    """A figure for each group and metric, in that order; `encodings` hold all sentences of the groups."""
    for relation, triplets in groups.items():
        rows = _rows_of_kinds(encodings, triplets)
        for metric in metrics:
            whitening = _whitening(encodings.vectors, rows["triplet"]) if metric == "mahalanobis" else None
            if metric == "mahalanobis" and whitening is None:
                yield Figure(subject=subject, metric=metric, relation=relation, counts={}, missing=_TOO_FEW)
            else:
                sides = {kind: _distances(encodings.vectors, rows[kind], metric, whitening) for kind in rows}
                yield _figure(subject, metric, relation, sides, sides["triplet"])


def store_figures(
    subject: str,
    store: Store,
    metric: StoreMetric,
    encodings: Encodings,
    groups: Groups,
    *,
    on_case: Callable[[], None] = lambda: None,
) -> Iterator[Figure]:
    """A figure for each group; `encodings` hold all its sentences, `on_case` is called after each case.

    The store says which one is nearest, not how near; the distances are computed beside it.

    Raises:
        AuditFailed: the store refused, or went away.
    """
    # Of vectors of length 1, the inner product is the cosine.
    plain: Metric = "cosine" if metric == "inner_product" else metric
    for relation, triplets in groups.items():
        rows = _rows_of_kinds(encodings, triplets)
        sides = {kind: _answers(store, encodings.vectors, rows[kind], on_case) for kind in rows}
        yield _figure(subject, metric, relation, sides, _distances(encodings.vectors, rows["triplet"], plain, None))


async def matcher_figures(
    subject: str, groups: Groups, compare: Callable[[str, list[str]], Awaitable[Sequence[TextFinding] | None]]
) -> list[Figure]:
    """A figure for each group and order, in that order.

    `compare` is asked once a triplet, about its base and all texts of its cases; what it gives None for is left out.
    """
    figures: list[Figure] = []
    for relation, triplets in groups.items():
        by_kind = {kind: list(cases(triplets, kind)) for kind in KINDS}
        texts: list[dict[str, None]] = [{} for _ in triplets]
        for case in chain.from_iterable(by_kind.values()):
            texts[case.place] |= dict.fromkeys((case.positive, case.negative))
        bases = zip(triplets, texts, strict=True)
        found = await gather_or_cancel(compare(triplet.base, list(own)) for triplet, own in bases)
        directions = [
            None if given is None else {text: _directions(one) for text, one in zip(own, given, strict=True)}
            for own, given in zip(texts, found, strict=True)
        ]
        for name, order in ORDERS.items():
            sides: dict[Kind, Sides] = {}
            for kind, own_cases in by_kind.items():
                pairs = [
                    (1 - order(*known[case.positive]), 1 - order(*known[case.negative]))
                    for case in own_cases
                    if (known := directions[case.place]) is not None
                ]
                if pairs:
                    positive, negative = np.array(pairs, dtype=np.float64).T
                    sides[kind] = positive, negative
            if "triplet" in sides:
                figures.append(_figure(subject, name, relation, sides, sides["triplet"]))
    return figures


def _figure(subject: str, metric: str, relation: str, sides: Mapping[Kind, Sides], spread: Sides) -> Figure:
    counts = {
        kind: Count(len(positive), int((positive < negative).sum()), int((positive == negative).sum()))
        for kind, (positive, negative) in sides.items()
    }
    positive, negative = spread
    both = np.concatenate(spread)
    span = Distances(float(positive.mean()), float(negative.mean()), float(both.min()), float(both.max()))
    return Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=span)


def _directions(finding: TextFinding) -> tuple[float, float]:
    back = finding.query_to_text
    return finding.text_to_query.score, back.score if back is not None else 0.0


def _rows_of_kinds(encodings: Encodings, triplets: Sequence[Triplet]) -> dict[Kind, _Rows]:
    """The rows of each kind that has a case."""
    made = {kind: list(cases(triplets, kind)) for kind in KINDS}
    return {
        kind: encodings.rows(text for case in own for text in (case.base, case.positive, case.negative)).reshape(-1, 3)
        for kind, own in made.items()
        if own
    }


def _whitening(vectors: Vectors, triplets: _Rows) -> Whitening | None:
    """By all sentences of the triplets; None where it would make all distances the same."""
    rows = triplets.ravel()
    whitening = Whitening(unit(vectors[rows[first : first + _CHUNK]]) for first in range(0, len(rows), _CHUNK))
    return whitening if whitening.tells(len(np.unique(rows))) else None


def _distances(vectors: Vectors, rows: _Rows, metric: Metric, whitening: Whitening | None) -> Sides:
    positive, negative = np.empty(len(rows)), np.empty(len(rows))
    for first in range(0, len(rows), _CHUNK):
        part = slice(first, first + _CHUNK)
        base, *others = (unit(vectors[rows[part, column]]) for column in range(3))
        for side, other in zip((positive, negative), others, strict=True):
            side[part] = distances(metric, base, other, whitening)
    return positive, negative


def _answers(store: Store, vectors: Vectors, rows: _Rows, on_case: Callable[[], None]) -> Sides:
    """0 for the one that the store names and 1 for the other."""
    away = np.empty(len(rows))
    for place, (base, positive, negative) in enumerate(rows):
        # The negative first: a store that keeps to the order where it sees no difference gets no case right by it.
        candidates = vectors[[negative, positive]]
        nearest = store.nearest(candidates, vectors[base])
        # Of two that are the same, either answer is luck.
        away[place] = 0.5 if (candidates[0] == candidates[1]).all() else nearest == 0
        on_case()
    return away, 1 - away
