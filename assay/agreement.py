"""Agreement of a judge with people, and the outputs on which it is least."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agents.monitor.true_rate import Sums, agreement
from checkers.intervals import wilson

_LONG: Final = 60
"""Words."""

_FEWEST: Final = 5
"""Labels of a group that is told of."""

_NEGATION: Final = re.compile(r"\b(?:not|no|never|none|cannot|without|\w+n't)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """A person's word on a record."""

    accept: bool
    probability: float
    """That the record was drawn with."""
    even: bool
    """False for one that is left out so that those that remain are drawn as later ones are."""
    groups: tuple[str, ...]
    """The kind of output, in words."""


class Worst(NamedTuple):
    """The kind of outputs on which a judge agrees least with people."""

    on: str
    agreed: int
    of: int


DRAWN: Final = "assay_drawn"
"""Field of a labelled record that was drawn unevenly."""


def person_label(record: Mapping[str, Any]) -> PersonLabel:
    """The label of a record that has one."""
    drawn = record.get(DRAWN)
    probability, even = drawn if isinstance(drawn, list) and len(drawn) == 2 else (1.0, True)
    return PersonLabel(record["label"] == "accept", probability, even, _groups(record))


def _groups(record: Mapping[str, Any]) -> tuple[str, ...]:
    """In words that follow "worst on"."""
    text = record.get("response")
    if not isinstance(text, str):
        return ()
    found = {
        "answers with figures": any(each.isdigit() for each in text),
        "answers without figures": not any(each.isdigit() for each in text),
        "answers that deny": _NEGATION.search(text) is not None,
        "long answers": len(text.split()) > _LONG,
        f"the task {record.get('task')}": isinstance(record.get("task"), str),
    }
    return tuple(name for name, holds in found.items() if holds)


def agreed_with(verdicts: Iterable[tuple[bool, PersonLabel]]) -> dict[str, Any]:
    """Agreement of verdicts, which accept or do not, with labels; as JSON has it."""
    sides = {True: Sums(), False: Sums()}
    agreed: list[tuple[bool, tuple[str, ...]]] = []
    for accepts, label in verdicts:
        # Each stands for as many as it was drawn of.
        sides[accepts].verdicts += round(1 / label.probability)
        sides[accepts].add(float(label.accept), label.probability)
        agreed.append((accepts == label.accept, label.groups))
    found, worst = agreement(sides[True], sides[False], "kappa"), _worst(agreed)
    return {
        "agreed": sum(right for right, _ in agreed),
        "of": len(agreed),
        "kappa": None if found is None else found.kappa.model_dump(),
        "worst": None if worst is None else worst._asdict(),
    }


def worst_on(agreed: Iterable[tuple[bool, Mapping[str, Any]]]) -> Worst | None:
    """The kind of records, each with whether judge and people agree on it, on which they agree least."""
    return _worst([(right, _groups(record)) for right, record in agreed])


def _worst(agreed: Sequence[tuple[bool, tuple[str, ...]]]) -> Worst | None:
    labels, right = Counter[str](), Counter[str]()
    for agrees, groups in agreed:
        for group in ("", *groups):
            labels[group] += 1
            right[group] += agrees
    wrong = {
        group: wilson(labels[group] - right[group], labels[group])[0]
        for group in labels
        if group and labels[group] >= _FEWEST and right[group] / labels[group] < right[""] / labels[""]
    }
    worst = max(wrong, key=wrong.__getitem__, default=None)
    return None if worst is None else Worst(worst, right[worst], labels[worst])


def agreement_line(found: Mapping[str, Any]) -> str:
    """The agreement as a sentence."""
    said = f"agrees with your people on {found['agreed']} of {found['of']}"
    if (kappa := found["kappa"]) is not None:
        reach = (kappa["high"] - kappa["low"]) / 2
        said += f" (kappa {kappa['estimate']:.2f} ± {reach:.2f})"
    if (worst := found["worst"]) is not None:
        said += f", worst on {worst['on']}: {worst['agreed']} of {worst['of']}"
    return said
