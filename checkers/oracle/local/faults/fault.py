"""What a contradiction is, and where in the reference a claim comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.material import Material

FIRM = 0.6
"""Likeness from which a word is surely placed."""
EXACT = 0.9
"""Likeness from which a word is the same word."""
FAIR_PART = 0.3
"""Share of a claim from which a passage counts among those it comes from."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a claim."""

    kind: str
    reason: str
    word: int
    """Position of the claim's word it hangs on."""


def main_passage(reference: Material, path: Alignment) -> int:
    """The passage most of the claim comes from."""
    weights = np.bincount(reference.owners[path.reference], weights=path.likeness)
    return int(weights.argmax())


def homes(reference: Material, path: Alignment) -> set[int]:
    """The passages a fair part of the claim comes from."""
    weights = np.bincount(reference.owners[path.reference], weights=path.likeness)
    return set(np.flatnonzero(weights >= FAIR_PART * weights.sum()).tolist())
