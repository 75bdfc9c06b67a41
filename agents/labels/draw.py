"""Who is asked: the probability with which each verdict is drawn for review, known before it and written down.

A stratum is an outcome. Labels go where they narrow the rate most: a stratum's share of them is its share of the
verdicts times the deviation within it (Neyman, JRSS 97, 1934).
"""

import math
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from agents.labels.sums import Sums

STRATA: Final = ("accept", "reject")

RECENT: Final = 1000
"""Verdicts that the shares of the strata are told from."""

_EVEN_FOR: Final = 30
"""For the first so many labels, both strata have the same share."""

_LEAST: Final = 0.1
"""The smallest share of the labels that a stratum gets."""

_HOUR: Final = 3600.0


class Traffic(BaseModel):
    """The recent shares of the strata, and the pace of verdicts.

    The pace is that over the last hour, and there was none before the first verdict. So all are drawn at first, then
    ever fewer: only in its first hour does a series take more than its budget.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    shares: dict[str, float] = Field(default_factory=dict)
    beyond: dict[str, float] = Field(default_factory=dict)
    """Records that a verdict stands for beyond the one that was checked, by stratum; sums to the mean of 1/p - 1."""
    least: float = 1.0
    """The smallest share of the records that routing takes, of all verdicts."""
    verdicts: int = Field(default=0, ge=0)
    pace: float = 0.0
    """Verdicts an hour."""
    at: float = 0.0
    """When the last one was checked, in seconds since 1970."""

    def add(self, stratum: str, at: float, share: float = 1.0) -> None:
        """Count a verdict on a record of which routing takes this share."""
        self.verdicts += 1
        new = 1 / self.counted
        for name in self.shares:
            self.shares[name] *= 1 - new
        for name in self.beyond:
            self.beyond[name] *= 1 - new
        self.shares[stratum] = self.shares.get(stratum, 0.0) + new
        self.beyond[stratum] = self.beyond.get(stratum, 0.0) + new * (1 / share - 1)
        self.least = min(self.least, share)
        self.pace = self.pace * math.exp(min(0.0, self.at - at) / _HOUR) + 1
        self.at = max(self.at, at)

    @property
    def stands_for(self) -> float:
        """Records that a verdict stands for, on average."""
        return sum(self.shares.values()) + sum(self.beyond.values())

    def weight(self, stratum: str) -> float:
        """The share of a stratum in the traffic, that which routing leaves out included."""
        return (self.shares.get(stratum, 0.0) + self.beyond.get(stratum, 0.0)) / self.stands_for

    @property
    def counted(self) -> int:
        """Verdicts that the shares are told from."""
        return min(RECENT, self.verdicts)

    def chances(self, allocation: Mapping[str, float], budget: float) -> dict[str, float]:
        """The probability of being drawn by stratum, if `budget` are an hour, with this share from each stratum."""
        return {
            name: min(1.0, budget * allocation[name] / (self.pace * share))
            for name, share in self.shares.items()
            if share > 0
        }


def allocation(strata: Mapping[str, Sums], shares: Mapping[str, float]) -> dict[str, float]:
    """The share of the labels by stratum."""
    if sum(each.labels for each in strata.values()) < _EVEN_FOR:
        return dict.fromkeys(STRATA, 1 / len(STRATA))
    sizes = {name: shares.get(name, 0.0) * _deviation(strata.get(name)) for name in STRATA}
    least = _LEAST * sum(sizes.values()) or 1.0
    whole = sum(max(least, size) for size in sizes.values())
    return {name: max(least, size) / whole for name, size in sizes.items()}


def _deviation(sums: Sums | None) -> float:
    mean = sums.mean if sums is not None else 0.5
    return math.sqrt(mean * (1 - mean))
