"""One series: the verdicts of one checker with one configuration on one subject, and people's labels of some."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from agents.labels.draw import STRATA, Traffic, allocation
from agents.labels.rate import Rate, corrected_rate
from agents.labels.sums import Sums
from agents.labels.watch import LEARNED_AT, Terms, Watch
from agents.routing import sample_point
from schemas import TrueRateCause

_DISAGREEMENTS: Final = 20

_HALF: Final = 0.5
_OTHER: Final = {"accept": "reject", "reject": "accept"}


class Draw(NamedTuple):
    """A verdict that was drawn for review."""

    stratum: str
    probability: float
    terms: Terms


class Series(BaseModel):
    """All that is known of a series; this is what is stored."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    strata: dict[str, Sums] = Field(default_factory=dict)
    traffic: Traffic = Field(default_factory=Traffic)
    allocation: dict[str, float] = Field(default_factory=lambda: dict.fromkeys(STRATA, 1 / len(STRATA)))
    """Of the labels to the strata. It changes where the series is stored, so that a replay draws the same verdicts."""
    watch: Watch = Field(default_factory=Watch)
    pairs: int = 0
    """Verdicts that a second person labelled."""
    pairs_agreed: int = 0
    """Those of `pairs` on which both say the same."""
    agreed: int = 0
    """Labelled verdicts on which people and the judge say the same."""
    disagreements: list[str] = Field(default_factory=list)
    """Ids of the last verdicts that people do not agree with."""

    def count(self, verdict_id: str, *, accepted: bool, at: float, budget: float) -> Draw | None:
        """Count a verdict; returns how it was drawn, or None if it was not."""
        stratum = "accept" if accepted else "reject"
        self.traffic.add(stratum, at)
        sums = self.strata.setdefault(stratum, Sums())
        sums.verdicts += 1
        self.watch.verdict(accepted=accepted)
        chances = self.traffic.chances(self.allocation, budget)
        return self.draw(stratum, chances) if sample_point("review", verdict_id) < chances[stratum] else None

    def draw(self, stratum: str, chances: Mapping[str, float]) -> Draw:
        """Draw a verdict of `stratum`, where each stratum's verdicts have these chances."""
        self.strata[stratum].asked += 1
        shares = self.traffic.shares
        means = {name: self.strata[name].mean for name in chances}
        base = sum(shares[name] * mean for name, mean in means.items())
        drawn = sum(shares[name] * chance for name, chance in chances.items())
        bad = {name: base - drawn / chances[name] * mean for name, mean in means.items()}
        good = {name: bad[name] + drawn / chances[name] for name in means}
        terms = Terms(bad[stratum], good[stratum], min(bad.values()), max(good.values()))
        return Draw(stratum, chances[stratum], terms)

    def label(self, verdict_id: str, draw: Draw, before: float | None, good: float) -> TrueRateCause | None:
        """Put a label in the place of the one `before`, if any; returns what there is to tell of it."""
        sums = self.strata.setdefault(draw.stratum, Sums())
        told = None
        if before is not None:
            sums.add(before, draw.probability, -1)
            self.agreed -= _agrees(draw.stratum, before)
        else:
            told = self.watch.label(good, draw.terms)
        sums.add(good, draw.probability)
        self.agreed += _agrees(draw.stratum, good)
        self.disagreements = [each for each in self.disagreements if each != verdict_id]
        if _agrees(_OTHER[draw.stratum], good):
            self.disagreements = [*self.disagreements, verdict_id][-_DISAGREEMENTS:]
        return told

    def settle(self, below: float | None) -> None:
        """Let the labels so far decide about the next draws and alarms; `below` is the configured bound, if any."""
        self.allocation = allocation(self.strata, self.traffic.shares)
        self.watch.below = below if self.watch.below is None else self.watch.below
        if self.labels >= LEARNED_AT and self.watch.judge_below is None and (rate := self.rate()) is not None:
            self.watch.learn(rate.low, self.traffic.shares.get("accept", 0.0), self.traffic.counted)

    @property
    def labels(self) -> int:
        return sum(each.labels for each in self.strata.values())

    def rate(self) -> Rate | None:
        """The true success rate since the series began."""
        return corrected_rate(self.strata.values())


def _agrees(stratum: str, good: float) -> bool:
    """True if people say the same as the judge; unsure is neither."""
    return good > _HALF if stratum == "accept" else good < _HALF
