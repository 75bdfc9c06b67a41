"""The audit of an embedding model: how often the positive is closer to the base than the negative (section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from checkers.retrieval.audit.cases import KINDS, Groups, Kind, cases
from checkers.retrieval.audit.encoding import Encodings
from checkers.retrieval.audit.figures import Count, Distances, Figure
from checkers.retrieval.audit.metrics import Floats, Pairs, Whitening, distances, unit
from checkers.retrieval.audit.names import Metric
from checkers.retrieval.triplets import Triplet

_CHUNK = 2048
"""Pairs whose distances are computed at a time: what bounds the memory beside the vectors."""

_TOO_FEW = "no more sentences than the model has dimensions: all are equally far apart"

_Rows = npt.NDArray[np.intp]


def sentences_of(groups: Groups) -> Iterator[str]:
    """Every sentence that an audit of these triplets needs, some of them several times."""
    for triplets in groups.values():
        for triplet in triplets:
            yield from (triplet.base, triplet.positive, triplet.negative)
            if triplet.unrelated is not None:
                yield triplet.unrelated


def figures(subject: str, encodings: Encodings, groups: Groups, metrics: Sequence[Metric]) -> Iterator[Figure]:
    """A figure for each group and metric, in that order; `encodings` hold all sentences of the groups."""
    for relation, triplets in groups.items():
        if triplets:
            yield from _Group(encodings, triplets).figures(subject, relation, metrics)


class _Group:
    """The triplets of one relation as rows of vectors."""

    def __init__(self, encodings: Encodings, triplets: Sequence[Triplet]) -> None:
        self._vectors = encodings.vectors
        self._cases = {kind: self._rows(encodings, triplets, kind) for kind in KINDS}

    def figures(self, subject: str, relation: str, metrics: Sequence[Metric]) -> Iterator[Figure]:
        whitening = self._whitening() if "mahalanobis" in metrics else None
        usable = [metric for metric in metrics if metric != "mahalanobis" or whitening is not None]
        found = {kind: self._distances(kind, usable, whitening) for kind in KINDS}
        for metric in metrics:
            if metric not in usable:
                yield Figure(subject=subject, metric=metric, relation=relation, counts={}, missing=_TOO_FEW)
                continue
            counts = {kind: _count(*found[kind][metric]) for kind in KINDS if len(self._cases[kind])}
            positive, negative = found["triplet"][metric]
            both = np.concatenate([positive, negative])
            spread = Distances(float(positive.mean()), float(negative.mean()), float(both.min()), float(both.max()))
            yield Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=spread)

    def _rows(self, encodings: Encodings, triplets: Sequence[Triplet], kind: Kind) -> _Rows:
        """Rows of base, positive and negative (cases, 3)."""
        made = list(cases(triplets, kind))
        texts = (text for case in made for text in (case.base, case.positive, case.negative))
        return encodings.rows(texts).reshape(len(made), 3)

    def _whitening(self) -> Whitening | None:
        """By all sentences of the triplets; None where it would make all distances the same."""
        rows = self._cases["triplet"].ravel()
        chunks = (unit(self._vectors[rows[first : first + _CHUNK]]) for first in range(0, len(rows), _CHUNK))
        whitening = Whitening(chunks)
        return whitening if whitening.tells(len(np.unique(rows))) else None

    def _distances(
        self, kind: Kind, metrics: Sequence[Metric], whitening: Whitening | None
    ) -> dict[Metric, tuple[Floats, Floats]]:
        """By metric, of the positives and of the negatives of all cases."""
        rows = self._cases[kind]
        found: dict[Metric, tuple[Floats, Floats]] = {
            metric: (np.empty(len(rows)), np.empty(len(rows))) for metric in metrics
        }
        for first in range(0, len(rows), _CHUNK):
            part = slice(first, first + _CHUNK)
            base, *others = (unit(self._vectors[rows[part, column]]) for column in range(3))
            for side, other in enumerate(others):
                pairs = Pairs(base, other)
                for metric in metrics:
                    found[metric][side][part] = distances(metric, pairs, whitening)
        return found


def _count(positive: Floats, negative: Floats) -> Count:
    return Count(cases=len(positive), right=int((positive < negative).sum()), ties=int((positive == negative).sum()))
