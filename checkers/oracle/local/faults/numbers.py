"""Figures the reference does not state."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.faults.fault import Fault, main_passage
from checkers.oracle.local.material import Material
from checkers.text.numbers import Quantity, is_stated


def numbers(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    """Each figure of the claim that neither the reference nor the question states."""
    # The question's figures need no support, unless the reference names others: it may be a trap.
    asked = known.numbers if known and not any(quantity.digits for quantity in reference.numbers) else ()
    stated = reference.readings + asked
    for quantity in claim.numbers:
        if is_stated(quantity, stated):
            continue
        said = _said(claim, quantity)
        home = main_passage(reference, path)
        rivals = [q for q in reference.numbers if reference.owners[q.first] == home and not is_stated(q, claim.numbers)]
        if len(rivals) == 1 and rivals[0].digits == quantity.digits:
            reason = f"the reference says '{_said(reference, rivals[0])}' where the sentence says '{said}'"
        else:
            reason = f"the number {said} is not in the reference"
        # A small count in words ("two brothers") may sum up what the reference lists, unless it counts there itself.
        counted = any(not rival.digits for rival in rivals)
        yield Fault("number" if quantity.digits or counted else "count", reason, quantity.first)


def _said(text: Material, quantity: Quantity) -> str:
    return " ".join(word.surface for word in text.words[quantity.first : quantity.last + 1])
