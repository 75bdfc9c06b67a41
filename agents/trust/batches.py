"""Batches of time: whether verdicts near in time fail together, by how far neighbouring batches lie apart."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

FARTHEST: Final = 25
"""A pair counts as at most so many times as far apart as pairs were so far: one may be an incident."""


class BatchesState(BaseModel):
    """The open batch, the one before it, and sums over pairs of neighbours."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    verdicts: int = Field(default=0, ge=0)
    deviation: float = 0.0
    """The open batch's accepts less what the hours explain."""
    verdicts_before: int = Field(default=0, ge=0)
    mean_before: float = 0.0
    squares: float = Field(default=0.0, ge=0)
    """Squared differences of neighbours' means."""
    expected: float = Field(default=0.0, ge=0)
    """Their average if verdicts were independent."""
    pairs: float = Field(default=0.0, ge=0)


class Batches:
    """The variance of batches' means, as a multiple of that of as many independent verdicts.

    Only neighbours are compared, so that a rate that moved long ago is no variance.
    """

    def __init__(self, *, at_least: int, prior: float, kept: float, rises: bool = False) -> None:
        """Begin with none.

        `at_least`: verdicts of a batch. `prior`: pairs, as of independent verdicts, that are there from the beginning.
        `kept`: pairs after which an old one counts for little. `rises`: let rises alone count, for falls as well,
        which are as frequent unless the rate drops.
        """
        self._at_least = at_least
        self._prior: Final = prior
        self._keep: Final = 1 - 1 / kept
        self._rises = rises
        self.state = BatchesState()

    def add(self, deviation: float) -> None:
        """Put a verdict into the open batch."""
        self.state.verdicts += 1
        self.state.deviation += deviation

    def close(self, variance: float) -> None:
        """End the open batch, if it has verdicts enough; `variance`: of a verdict."""
        now = self.state
        if now.verdicts < self._at_least:
            return
        mean = now.deviation / now.verdicts
        if now.verdicts_before:
            weight = 1 / (1 / now.verdicts + 1 / now.verdicts_before)
            rise = mean - now.mean_before
            square = 2 * max(0.0, rise) ** 2 if self._rises else rise**2
            square = min(square * weight, FARTHEST * variance * max(1.0, self.dispersion))
            now.squares = self._keep * now.squares + square * weight
            now.expected = self._keep * now.expected + variance * weight
            now.pairs = self._keep * now.pairs + 1
        now.verdicts_before, now.mean_before = now.verdicts, mean
        now.verdicts, now.deviation = 0, 0.0

    def skip(self) -> None:
        """Leave the open batch out, and compare none before it with the next."""
        self.state.verdicts, self.state.deviation, self.state.verdicts_before = 0, 0.0, 0

    def discount(self, pairs: float) -> None:
        """Let the pairs so far count for that many at most, and compare no batch before with the next."""
        now = self.state
        share = pairs / max(pairs, now.pairs)
        now.squares, now.expected, now.pairs = share * now.squares, share * now.expected, share * now.pairs
        self.skip()

    @property
    def dispersion(self) -> float:
        """The multiple: 1 for independent verdicts."""
        now = self.state
        seen = now.squares / now.expected * now.pairs if now.expected else 0.0
        return (seen + self._prior) / (now.pairs * (now.expected > 0) + self._prior)

    def size(self, variance: float) -> float:
        """Verdicts that a batch has as a rule; 0 before there is a pair."""
        now = self.state
        return 2 * now.expected / (now.pairs * variance) if now.pairs else 0.0
