"""One version of an application against another: the difference of their success rates, and whether traffic is alike.

Over its variance the difference moves like a Brownian motion, in whatever order verdicts come (Jennison & Turnbull,
JASA 92, 1997), so it has the sequence of true rates. From 30 verdicts on that is simulated (`benchmarks.versions`).
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

from pydantic import BaseModel, Field

from agents.monitor.outcomes import METADATA, SeriesOutcome, Version
from agents.monitor.sampling import OUTCOMES
from agents.monitor.true_rate import STORED, Sums, corrected_rate, reach
from schemas import Measured, digest
from schemas.labels import RateEstimate, VersionRate

COMPARED_FROM: Final = 30  # Verdicts that each version needs.
_MOST: Final = 5  # Versions that are counted side by side.
_APART: Final = 0.05  # The part of the traffic in which mixes must differ: that moves a rate by five points at most.
_ALIKE_ERROR: Final = 0.01  # Probability that mixes which are the same are ever called unlike.
_NARROWEST: Final = 0.08  # Differences that the sequence is made for: some ten points, after some 300 verdicts a side.
_ADDED: Final = 2  # Accepts and rejects: few verdicts make a variance too small (Agresti & Caffo, 2000).


class VersionCount(BaseModel):
    """The verdicts on one version of the application, and people's labels of some."""

    model_config = STORED

    ids: tuple[str, ...]  # See `ids_of`.
    version: dict[str, str]
    first_at: datetime
    strata: dict[str, Sums] = Field(default_factory=lambda: {outcome: Sums() for outcome in OUTCOMES})
    kinds: dict[str, int] = Field(default_factory=dict)  # Verdicts by kind of record.

    def rate(self, dispersion: float) -> VersionRate:
        """The success rate so far; evidence is divided by `dispersion`."""
        strata, verdicts = self.strata.values(), sum(self.kinds.values())
        traffic, found = sum(each.traffic for each in strata), corrected_rate(strata)
        return VersionRate(
            version=self.version,
            first_at=self.first_at,
            verdicts=verdicts,
            labels=sum(each.labels for each in strata),
            judged=rate_of(verdicts, self.strata["accept"].verdicts, dispersion),
            labelled=found and rate_of(traffic, found.estimate * traffic, beyond=found.variance),
            traffic={"kind": self.kinds},
        )


def ids_of(version: Version) -> tuple[str, ...]:
    """Under which verdicts of a version are watched: whatever the application's version is, and by that."""
    whole = {name: "" if name.startswith(METADATA) else value for name, value in version.items()}
    return tuple(dict.fromkeys((digest(whole)[:16], digest(dict(version))[:16])))


def counted(
    versions: Sequence[VersionCount], outcome: SeriesOutcome, ids: tuple[str, ...], *, drawn: bool = False
) -> list[VersionCount]:
    """The versions after a verdict, its own at the end; the one that was longest without a verdict makes room."""
    own = next((each for each in versions if each.ids == ids), None)
    if own is None:
        release = {name: value for name, value in outcome.version.items() if name.startswith(METADATA)}
        own = VersionCount(ids=ids, version=release, first_at=outcome.checked_at)
    kind, sums = outcome.kind or "", own.strata[outcome.outcome]
    own.kinds[kind] = own.kinds.get(kind, 0) + 1
    sums.count(outcome.share)
    sums.asked += drawn
    return [*(each for each in versions if each is not own), own][-_MOST:]


def rates(versions: Sequence[VersionCount], dispersion: float = 1.0) -> tuple[VersionRate, ...]:
    """Those of the versions whose verdicts compare with the latest one, each with its change from the one before."""
    return with_changes([each.rate(dispersion) for each in versions if each.ids[0] == versions[-1].ids[0]])


def with_changes(versions: Sequence[VersionRate]) -> tuple[VersionRate, ...]:
    """The versions in the order of their first verdicts, each compared with the one before."""
    ordered = sorted(versions, key=lambda each: each.first_at)
    found = ordered[:1]
    for before, after in pairwise(ordered):
        update: dict[str, object] = {}
        if min(before.verdicts, after.verdicts) >= COMPARED_FROM:
            labelled = before.labelled and after.labelled and change(before.labelled, after.labelled)
            update = {"change": labelled or change(before.judged, after.judged), "unlike": unlike(before, after)}
        found.append(after.model_copy(update=update))
    return tuple(found)


def rate_of(number: float, good: float, dispersion: float = 1.0, *, beyond: float = 0.0) -> RateEstimate:
    """The rate of so many, with the variance of which ones there were at all, and `beyond` it."""
    rate = (good + _ADDED) / (number + 2 * _ADDED)
    return RateEstimate(rate=good / number, variance=dispersion * rate * (1 - rate) / number + beyond)


def change(before: RateEstimate, after: RateEstimate, error: float = 0.05) -> Measured:
    """The later rate less the earlier one, at every look."""
    middle, variance = after.rate - before.rate, before.variance + after.variance
    half = reach(variance, (_NARROWEST / variance) ** 2, error)
    return Measured(estimate=middle, low=max(-1.0, middle - half), high=min(1.0, middle + half))


def unlike(before: VersionRate, after: VersionRate) -> tuple[str, ...]:
    """The parts of the traffic in which two versions differ: in any share beyond chance, in all by enough to matter."""
    found = []
    for part, mix in before.traffic.items():
        sides, values = (mix, after.traffic[part]), mix.keys() | after.traffic[part].keys()
        shares = ([rate_of(sum(side.values()), side.get(each, 0)) for side in sides] for each in values)
        changes = [change(first, second, _ALIKE_ERROR / len(values)) for first, second in shares]
        apart = sum(abs(each.estimate) for each in changes) / 2
        if apart >= _APART and any(each.low > 0 or each.high < 0 for each in changes):
            found.append(part)
    return tuple(found)
