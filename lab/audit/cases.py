"""The cases that a matcher is tried on, and the counts of an audit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from assay.cli.front_door import CannotRun, NotFinished
from lab.triplets import Triplet


class CannotAudit(CannotRun):
    """An audit that cannot be made: the message says what, and what is allowed."""


class AuditFailed(NotFinished):
    """A store or an endpoint is not there, or did not do what it was asked."""


Kind = Literal["triplet", "control", "unrelated"]
"""`triplet`: the negative of the relation. `control`: the other one's positive, in the cases (1, 2), (3, 4) and so on
whose bases differ: texts without the relation (paper, section 4.2). `unrelated`: the one that came with the triplet."""

KINDS: tuple[Kind, ...] = get_args(Kind)

Metric = Literal["cosine", "euclidean", "manhattan", "pearson", "bray_curtis", "lance_williams", "mahalanobis"]
"""The distances between vectors that the paper measures by."""

METRICS: tuple[Metric, ...] = get_args(Metric)

Groups = Mapping[str, Sequence[Triplet]]
"""Triplets by relation, or by any other name that they are counted under."""


@dataclass(frozen=True, slots=True)
class Case:
    """A matcher is right if it finds `positive` closer to `base` than `negative`."""

    base: str
    positive: str
    negative: str
    place: int
    """That of its triplet among those of the relation."""


def cases(triplets: Sequence[Triplet], kind: Kind) -> Iterator[Case]:
    """The cases of this kind, in the triplets' order."""
    for place, triplet in enumerate(triplets):
        negative: str | None = triplet.negative
        if kind == "unrelated":
            negative = triplet.unrelated
        elif kind == "control":
            # An odd one at the end has no neighbour; the positive of one with the same base would be right too.
            neighbour = triplets[place ^ 1] if place ^ 1 < len(triplets) else triplet
            negative = neighbour.positive if neighbour.base != triplet.base else None
        if negative is not None:
            yield Case(triplet.base, triplet.positive, negative, place)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of cases decided, by outcome."""

    cases: int = 0
    right: int = 0
    ties: int = 0
    """Both as close: wrong, for nothing then speaks for the positive."""

    @property
    def accuracy(self) -> float | None:
        """The share of right ones; None if there was no case."""
        return self.right / self.cases if self.cases else None


@dataclass(frozen=True, slots=True)
class Distances:
    """From the bases of the triplets, unscaled; those of positives and negatives are means."""

    positive: float
    negative: float
    least: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The counts of one model (or store, or text matcher) by one metric under one relation."""

    subject: str
    metric: str
    relation: str
    counts: Mapping[Kind, Count]
    """A kind without a case has no count."""
    distances: Distances | None = None
    missing: str | None = None
    """Why nothing could be measured."""

    def accuracy(self, kind: Kind = "triplet") -> float | None:
        """The share of right cases of a kind; None if there was none."""
        return self.counts.get(kind, Count()).accuracy
