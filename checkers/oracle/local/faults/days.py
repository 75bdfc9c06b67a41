"""Days of the week and months the reference does not name, or names for something else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.faults.fault import FIRM, Fault, main_passage
from checkers.oracle.local.material import Material
from checkers.text.dates import MONTHS, WEEKDAYS, calendar_value


def days(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    """Each weekday and month of the claim that the reference does not bear out."""
    # All words, not content words alone: "May" is the name of a month where it is written as a name.
    for index, word in enumerate(claim.words):
        if index == 0 and word.surface.lower() in {"may", "march"}:
            continue
        for names in (WEEKDAYS, MONTHS):
            value = calendar_value(word.surface, names)
            if value is None:
                continue
            there = {
                at: found
                for at, other in enumerate(reference.words)
                if (found := calendar_value(other.surface, names)) is not None
            }
            if value in there.values():
                if (rival := _misplaced(reference, path, index, value, there)) is not None:
                    true = reference.words[rival].surface
                    yield Fault("date", f"the reference says '{true}' where the sentence says '{word.surface}'", index)
                continue
            if known and any(calendar_value(other.surface, names) == value for other in known.words):
                continue
            home = main_passage(reference, path)
            rivals = [reference.words[at] for at in there if reference.owners[at] == home]
            if rivals:
                reason = f"the reference says '{rivals[0].surface}' where the sentence says '{word.surface}'"
            else:
                reason = f"'{word.surface}' is not in the reference"
            yield Fault("date", reason, index)


def _misplaced(reference: Material, path: Alignment, index: int, value: int, there: dict[int, int]) -> int | None:
    """Where the reference names another day for the words beside the claim's word, which it has for other words."""
    found = np.flatnonzero(path.claim == index)
    if not len(found):
        return None
    at = int(found[0])
    beside = [k for k in (at - 1, at + 1) if 0 <= k < len(path.claim) and path.likeness[k] >= FIRM]
    home = {int(reference.owners[path.reference[k]]) for k in beside}
    if len(home) != 1 or int(reference.owners[path.reference[at]]) in home:
        return None
    rivals = [other for other in there if int(reference.owners[other]) in home]
    return rivals[0] if rivals and all(there[other] != value for other in rivals) else None
