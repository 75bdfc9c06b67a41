"""Sampling: the probability with which each verdict is drawn for review, known before it and written down.

A stratum is an outcome, and in it the lower or the higher half of the scores. Labels go where they narrow the rate
most: a stratum's share of them is its share of the verdicts times how far its labels are from the mean of their outcome
(Neyman, JRSS 97, 1934). The rate is corrected by outcome alone: the probabilities make up for the halves.
"""

import math
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, Field

from agents.monitor.true_rate import STORED, Sums, merged

OUTCOMES: Final = ("accept", "reject")
STRATA: Final = ("accept.low", "accept.high", "reject.low", "reject.high")

RECENT: Final = 1000  # Verdicts that the shares of the strata are computed from.
_EVEN_FOR: Final = 30  # For the first so many labels, both outcomes have the same share.
_LEAST: Final = 0.05  # The smallest share of the labels that a stratum gets.
_APART: Final = 0.25  # The chances of an outcome's halves differ from that of the whole by so much at most.
_BEFORE: Final = 4  # Labels after which a stratum's own count as much as those of its outcome.
_STEP: Final = 0.5  # Of the first step to the middle of the scores; later ones are smaller, to a hundredth of it.
_HOUR: Final = 3600.0


def outcome_of(stratum: str) -> str:
    """The outcome of a stratum's verdicts."""
    return stratum.partition(".")[0]


class Traffic(BaseModel):
    """The recent shares of the strata, and the pace of verdicts over the last hour, so that all are drawn at first."""

    model_config = STORED

    shares: dict[str, float] = Field(default_factory=dict)
    # By outcome, about the median of the scores, and of how many.
    middles: dict[str, tuple[float, int]] = Field(default_factory=dict)
    # Records that a verdict stands for beyond the one that was checked, by stratum; sums to the mean of 1/p - 1.
    beyond: dict[str, float] = Field(default_factory=dict)
    least: float = 1.0  # The smallest share of the records that routing takes, of all verdicts.
    verdicts: int = Field(default=0, ge=0)
    pace: float = 0.0  # Verdicts an hour.
    at: float = 0.0  # When the last one was checked, in seconds since 1970.

    def stratum(self, outcome: str, score: float) -> str:
        """The stratum of a verdict, whose score then moves the middle."""
        middle, steps = self.middles.get(outcome, (score, 0))
        step = _STEP / min(100, steps + 1)
        moved = middle + step * ((score > middle) - (score < middle))
        self.middles[outcome] = moved, steps + 1
        return f"{outcome}.{'low' if score < middle else 'high'}"

    def add(self, stratum: str, at: float, share: float = 1.0) -> None:
        """Count a verdict on a record of which routing takes this share."""
        self.verdicts += 1
        new = 1 / self.counted
        for part in (self.shares, self.beyond):
            for name in part:
                part[name] *= 1 - new
        self.shares[stratum] = self.shares.get(stratum, 0.0) + new
        self.beyond[stratum] = self.beyond.get(stratum, 0.0) + new * (1 / share - 1)
        self.least = min(self.least, share)
        self.pace = self.pace * math.exp(min(0.0, self.at - at) / _HOUR) + 1
        self.at = max(self.at, at)

    @property
    def accepted(self) -> float:
        """The recent share of accepts."""
        return sum(share for name, share in self.shares.items() if outcome_of(name) == "accept")

    @property
    def stands_for(self) -> float:
        """Records that a verdict stands for, on average."""
        return sum(self.shares.values()) + sum(self.beyond.values())

    @property
    def counted(self) -> int:
        """Verdicts that the shares are computed from."""
        return min(RECENT, self.verdicts)

    def chances(self, allocation: Mapping[str, float], budget: float) -> dict[str, float]:
        """The probability of being drawn by stratum, if `budget` are an hour, with this share from each stratum."""
        of_outcomes = {one: sum(self.shares.get(f"{one}.{half}", 0.0) for half in ("low", "high")) for one in OUTCOMES}
        # A stratum that is new gets what it would have if its outcome were drawn evenly.
        parts = {
            name: allocation.get(name, share / of_outcomes[outcome_of(name)] / len(OUTCOMES))
            for name, share in self.shares.items()
            if share > 0
        }
        return {name: min(1.0, budget * part / (self.pace * self.shares[name])) for name, part in parts.items()}


def allocation(strata: Mapping[str, Sums], shares: Mapping[str, float]) -> dict[str, float]:
    """The share of the labels by stratum; empty at first, when both outcomes have the same."""
    if sum(each.labels for each in strata.values()) < _EVEN_FOR:
        return {}
    means = {outcome: of_outcome(strata, outcome).mean for outcome in OUTCOMES}
    sizes = {
        name: share * _distance(mean_of(strata, name, means[outcome_of(name)]), means[outcome_of(name)])
        for name, share in shares.items()
    }
    least = _LEAST * sum(sizes.values()) or 1.0
    whole = sum(max(least, size) for size in sizes.values())
    return {name: max(least, size) / whole for name, size in sizes.items()}


def of_outcome(strata: Mapping[str, Sums], outcome: str) -> Sums:
    """The strata of an outcome as one."""
    return merged(sums for name, sums in strata.items() if outcome_of(name) == outcome)


def mean_of(strata: Mapping[str, Sums], stratum: str, of_its_outcome: float) -> float:
    """The share of good ones in a stratum, as if a few labels had been there before that say what its outcome's do."""
    sums = strata.get(stratum, Sums())
    if not sums.labels:
        return of_its_outcome
    return (sums.good + _BEFORE * sums.unit * of_its_outcome) / (sums.weight + _BEFORE * sums.unit)


def _distance(mean: float, of_its_outcome: float) -> float:
    """Distance of labels with this mean from that of their outcome, within its own quarter.

    Not farther: weights that differ much cost coverage at all looks (`python -m benchmarks.labels --only interval`).
    """
    own = math.sqrt(of_its_outcome * (1 - of_its_outcome))
    squares = mean * (1 - of_its_outcome) ** 2 + (1 - mean) * of_its_outcome**2
    return min((1 + _APART) * own, max((1 - _APART) * own, math.sqrt(squares)))
