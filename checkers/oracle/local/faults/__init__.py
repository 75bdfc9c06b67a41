"""Single contradictions a reader would point at: a number, a name, a day, a negation, an opposite."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.faults.days import days
from checkers.oracle.local.faults.fault import Fault, main_passage
from checkers.oracle.local.faults.names import names
from checkers.oracle.local.faults.numbers import numbers
from checkers.oracle.local.faults.polarity import answers, negations, opposites
from checkers.oracle.local.faults.swaps import swaps
from checkers.oracle.local.material import Material

__all__ = ["Fault", "faults", "main_passage"]


def faults(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    """What contradicts the reference, gravest first. `known` is the question, whose words need no support."""
    yield from numbers(claim, reference, path, known)
    yield from days(claim, reference, path, known)
    yield from names(claim, reference, path, known)
    yield from swaps(claim, reference, path)
    yield from answers(claim, reference)
    yield from negations(claim, reference, path)
    yield from opposites(claim, reference, path)
