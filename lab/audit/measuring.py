"""The figures of embeddings and of stores: how often the positive is closer to the base than the negative.

Embeddings are measured by the seven distances of the paper, over vectors of length 1 (paper, section 4.1).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lab.audit.cases import KINDS, Count, Figure, Groups, Kind, Metric, Triplet, cases
from lab.audit.embedding import Encodings, unit
from lab.audit.stores import StoreMetric

Floats: TypeAlias = npt.NDArray[np.float64]
Vectors: TypeAlias = npt.NDArray[np.float32]
Rows: TypeAlias = npt.NDArray[np.intp]
Nearest: TypeAlias = Callable[[Vectors, Vectors], int]

Sides: TypeAlias = tuple[Floats, Floats]
"""The distances of the positives from their bases, and those of the negatives."""

_LEAST_VARIANCE = 1e-10
"""As a share of the largest. Models compute in single precision: what is smaller is the rounding of directions without
breadth, and the pseudo-inverse leaves it out."""

_TOO_FEW = "no more sentences than the model has dimensions: all are equally far apart"


def embedding_figures(
    subject: str, encodings: Encodings, groups: Groups, metrics: Sequence[Metric]
) -> Iterator[Figure]:
    """A figure for each group and metric, in that order; `encodings` hold all sentences of the groups."""
    for relation, triplets in groups.items():
        rows = _rows_of_kinds(encodings, triplets)
        for metric in metrics:
            own = rows["triplet"].ravel()
            whitening = whitening_of(unit(encodings.vectors[own])) if metric == "mahalanobis" else None
            # No more than one vector to each dimension that they span, and every two are equally far apart.
            if whitening is not None and len(np.unique(own)) <= whitening.shape[1] + 1:
                yield Figure(subject=subject, metric=metric, relation=relation, counts={}, missing=_TOO_FEW)
            else:
                sides = {kind: _sides(encodings, rows[kind], metric, whitening) for kind in rows}
                yield _figure(subject, metric, relation, sides, sides["triplet"])


def store_figures(
    subject: str,
    nearest: Nearest,
    metric: StoreMetric,
    encodings: Encodings,
    groups: Groups,
    *,
    on_case: Callable[[], None] = lambda: None,
) -> Iterator[Figure]:
    """A figure for each group; `encodings` hold all its sentences, `on_case` is called after each case.

    `nearest` is an open store: it says which one is nearest, not how near. The distances are computed next to it.

    Raises NotFinished if the store refuses, or goes away.
    """
    # Of vectors of length 1, the inner product is the cosine.
    plain: Metric = "cosine" if metric == "inner_product" else metric
    for relation, triplets in groups.items():
        rows = _rows_of_kinds(encodings, triplets)
        sides = {kind: _answers(nearest, encodings, rows[kind], on_case) for kind in rows}
        yield _figure(subject, metric, relation, sides, _sides(encodings, rows["triplet"], plain, None))


def distances(metric: Metric, one: Floats, other: Floats, whitening: Floats | None = None) -> Floats:
    """The distance of each pair of rows of two arrays (pairs, dimensions), as an array (pairs,).

    Raises:
        ValueError: Mahalanobis distances without a whitening.
    """
    differences = one - other
    match metric:
        case "cosine":
            # Of vectors of length 1; exact if they are almost the same, as 1 minus their product is not.
            found = np.square(differences).sum(axis=1) / 2
        case "euclidean":
            found = np.sqrt(np.square(differences).sum(axis=1))
        case "manhattan":
            found = np.abs(differences).sum(axis=1)
        case "pearson":
            # 1 - r; a row of equal numbers correlates with nothing.
            centred, other_centred = (rows - rows.mean(axis=1, keepdims=True) for rows in (one, other))
            lengths = np.linalg.norm(centred, axis=1) * np.linalg.norm(other_centred, axis=1)
            found = 1 - _quotients((centred * other_centred).sum(axis=1), lengths)
        case "bray_curtis":
            found = _quotients(np.abs(differences).sum(axis=1), np.abs(one + other).sum(axis=1))
        case "lance_williams":
            # Also known as Canberra; nothing next to nothing adds nothing.
            found = _quotients(np.abs(differences), np.abs(one) + np.abs(other)).sum(axis=1)
        case "mahalanobis":
            if whitening is None:
                raise ValueError("Mahalanobis distances need the covariance that they are measured by")
            found = np.linalg.norm(differences @ whitening, axis=1)
    return np.asarray(found)


def whitening_of(rows: Floats) -> Floats:
    """The map (dimensions, rank) under which Euclidean distances are Mahalanobis distances of these rows.

    It is made of the pseudo-inverse of their covariance.
    """
    values, directions = np.linalg.eigh(np.atleast_2d(np.cov(rows.T)))
    kept = values > _LEAST_VARIANCE * values[-1]
    found: Floats = directions[:, kept] / np.sqrt(values[kept])
    return found


def _quotients(numbers: Floats, divisors: Floats) -> Floats:
    """Number by number; 0 if the divisor is 0."""
    return np.asarray(np.divide(numbers, divisors, out=np.zeros_like(numbers), where=divisors > 0))


def _figure(subject: str, metric: str, relation: str, sides: Mapping[Kind, Sides], apart: Sides) -> Figure:
    counts = {
        kind: Count(len(positive), int((positive < negative).sum()), int((positive == negative).sum()))
        for kind, (positive, negative) in sides.items()
    }
    means = float(apart[0].mean()), float(apart[1].mean())
    return Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=means)


def _rows_of_kinds(encodings: Encodings, triplets: Sequence[Triplet]) -> dict[Kind, Rows]:
    """The rows of base, positive and negative (cases, 3) of each kind that has a case."""
    made = {kind: [encodings.rows(case) for case in cases(triplets, kind)] for kind in KINDS}
    return {kind: np.array(own, dtype=np.intp) for kind, own in made.items() if own}


def _sides(encodings: Encodings, rows: Rows, metric: Metric, whitening: Floats | None) -> Sides:
    base, positive, negative = (unit(encodings.vectors[rows[:, column]]) for column in range(3))
    return distances(metric, base, positive, whitening), distances(metric, base, negative, whitening)


def _answers(nearest: Nearest, encodings: Encodings, rows: Rows, on_case: Callable[[], None]) -> Sides:
    """0 for the one that the store names and 1 for the other."""
    away = np.empty(len(rows))
    for place, (base, positive, negative) in enumerate(rows):
        # The negative first: a store that keeps to the order where it sees no difference gets no case right by it.
        candidates = encodings.vectors[[negative, positive]]
        row = nearest(candidates, encodings.vectors[base])
        # Of two that are the same, either answer is luck.
        away[place] = 0.5 if (candidates[0] == candidates[1]).all() else row == 0
        on_case()
    return away, 1 - away
