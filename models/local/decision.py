"""From what the network says of a claim, and how its words stand in the reference, to one support."""

import importlib.resources
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from models.local.faults import ClaimFault

GRAVE = ("number", "date", "other name", "negation", "opposite", "swap", "addition", "stitch", "foreign")
"""Faults that a reader rejects a claim for, whatever else is right. A name that the reference does not have is not
among them, unless it has another in its place: what it says of somebody without the name, a claim may say with it."""

CEILING = -0.2
"""Log-odds that no claim with a grave fault exceeds. On sources held out this changes next to nothing: the network is
hardly ever sure of a claim that has one."""

_MOST = 8.0
"""Log-odds of the network beyond which more of them say nothing more."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A logistic regression over two log-odds, fitted on pairs of sources that the network had not seen.

    Each source and each outcome counted the same, so that 0.5 tells right claims from wrong ones best.
    """

    made_by: str
    """The command that fitted it, and trained the network."""
    learned_from: str
    bias: float
    network: float
    """Weight of the network's."""
    standing: float
    """Weight of those by how the claim's words stand in the reference."""

    def support(self, network: float, standing: float, found: Iterable[ClaimFault]) -> float:
        """The support, 0 to 1, rounded so that the last digits of the arithmetic never show."""
        logit = self.bias + self.network * max(-_MOST, min(_MOST, network)) + self.standing * standing
        if any(fault.kind in GRAVE for fault in found):
            logit = min(logit, CEILING)
        return round(1.0 / (1.0 + math.exp(-logit)), 4)


@cache
def decision() -> Decision:
    """The decision that comes with the package."""
    text = importlib.resources.files(__package__).joinpath("comparison", "decision.json").read_bytes()
    return TypeAdapter(Decision).validate_json(text)
