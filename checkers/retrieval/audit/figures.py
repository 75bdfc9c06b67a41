"""What an audit finds: a figure for each relation, model and metric."""

from dataclasses import dataclass

from checkers.retrieval.audit.cases import Kind


@dataclass(frozen=True, slots=True)
class Count:
    """How many cases were decided, and how."""

    cases: int = 0
    right: int = 0
    ties: int = 0
    """Both as close: wrong, for nothing then speaks for the positive."""

    @property
    def accuracy(self) -> float | None:
        """The share of right ones; None where there was no case."""
        return self.right / self.cases if self.cases else None


@dataclass(frozen=True, slots=True)
class Distances:
    """From the bases of the triplets; for the text that is displayed, scaled by the least and largest of all."""

    positive: float
    """Mean."""
    negative: float
    """Mean."""
    least: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One model (or store, or text matcher) by one metric under one relation."""

    subject: str
    metric: str
    relation: str
    counts: dict[Kind, Count]
    """A kind without a case has no count."""
    distances: Distances | None = None
    missing: str | None = None
    """Why nothing could be measured."""

    def accuracy(self, kind: Kind = "triplet") -> float | None:
        """The share of right cases of a kind; None where there was none."""
        return self.counts.get(kind, Count()).accuracy
