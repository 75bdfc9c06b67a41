"""From an alignment and faults to one number: log-odds by how a claim's words stand in the reference, set by hand."""

import math
from dataclasses import dataclass

import numpy as np

from models.local.alignment import Amend, WordPath, align
from models.local.encoded_text import Encoded
from models.local.faults import ClaimFault, faults


@dataclass(frozen=True, slots=True)
class Weights:
    """Log-odds: what a claim starts with and what is taken off."""

    bias: float
    """For a claim whose every word is found in place."""
    miss: float
    """Taken off when no word of the claim has a counterpart; in between in proportion."""
    jump: float
    """Taken off when no two neighbours of the claim stand together in the reference; in between in proportion."""
    loose: float
    """Size of a jump between words that stay near each other but not side by side."""
    faults: dict[str, float]
    """Taken off for each fault of a kind."""
    prior: float
    """Words found in place that are taken for granted, so that one odd word does not decide a short text."""
    power: float
    """Above 1 one word without any counterpart says more than several that have a near one."""
    literal: float = 0.0
    """Above 0 jumps count the less the more words miss: exponent of the share of words that is found."""


SUPPORT_WEIGHTS = Weights(
    bias=1.4,
    miss=3.0,
    jump=2.0,
    loose=0.25,
    faults={},
    prior=0.0,
    power=1.0,
)
"""One way: the reference may say more, in other order."""

EQUIVALENCE_WEIGHTS = Weights(
    bias=2.5,
    miss=10.0,
    jump=20.0,
    loose=0.0,
    faults={
        "number": 0.5,
        "date": 0.5,
        "negation": 0.3,
        "opposite": 0.3,
        "swap": 1.5,
    },
    prior=3.0,
    power=2.0,
)
"""Both ways: the same words in another order are the usual way to mean something else, while either side may be the
more precise one."""

UNEVEN = 0.5
"""How much the worse direction of an equivalence counts beyond the mean of the two: 1 would be the worse one alone."""

SLOW_RISE = 1.5
"""Exponent by which support rises above 0.5; 1 would be straight."""

NOTHING_FOUND = -4.0
"""Log-odds where one of the texts has no words."""

EXCUSED = 0.25
"""Weight of a word that only the question brings in: repeating the question claims little."""


@dataclass(frozen=True, slots=True)
class SupportFinding:
    """How one text is supported by another."""

    logit: float
    path: WordPath | None
    faults: tuple[ClaimFault, ...]


def support_of(
    claim: Encoded, reference: Encoded, known: Encoded | None, weights: Weights, amend: Amend | None = None
) -> SupportFinding:
    """Compare; `known` is the question, whose words need no support, `amend` a second opinion on likenesses."""
    path = align(claim, reference, amend)
    if path is None:
        return SupportFinding(NOTHING_FOUND, None, ())
    found = tuple(faults(claim, reference, path, known))
    wrong = {fault.word for fault in found if fault.kind in {"number", "date"}}
    miss = np.array([1.0 if i in wrong else 1.0 - like for i, like in zip(path.claim, path.closest, strict=True)])
    share = np.ones(len(miss))
    if known is not None:
        excused = np.array([claim.words[i].stem in known.positions for i in path.claim]) & (miss > 0.2)
        share[excused] = EXCUSED
    missing = float((miss**weights.power * share).sum() / (share.sum() + weights.prior))
    # A jump counts as far as both its ends are surely placed: between loose synonyms places mean little.
    ends = np.minimum(path.likeness[1:], path.likeness[:-1])
    apart = float(((path.jumps + weights.loose * path.loose) * ends).sum() / (len(miss) + weights.prior))
    apart *= float(1.0 - miss.mean()) ** weights.literal
    logit = weights.bias - weights.miss * missing - weights.jump * apart
    logit -= sum(weights.faults.get(fault.kind, 0.0) for fault in found)
    return SupportFinding(logit, path, found)


def both_ways(forward: float, backward: float) -> float:
    """Log-odds of an equivalence from those of its two directions."""
    return (forward + backward) / 2 - UNEVEN * abs(forward - backward) / 2


def graded(logit: float, weights: Weights) -> float:
    """Log-odds as a support of 0 to 1, rounded so that the last digits of the arithmetic never show.

    From 0.5, where the log-odds are even, it reaches 1 where every word stands in its place. Above the middle it rises
    slowly first: what is taken from several places is likelier unfaithful than its log-odds say, and a mean over
    sentences must show that.
    """
    if logit > 0:
        rise: float = min(1.0, logit / weights.bias) ** SLOW_RISE
        return round(0.5 + 0.5 * rise, 4)
    return round(1.0 / (1.0 + math.exp(min(60.0, -logit))), 4)
