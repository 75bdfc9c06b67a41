"""Labelled pairs to train on, pairs made from them, and pairs held out by source."""

import json
import lzma
from dataclasses import dataclass
from pathlib import Path

from models.text.words import normalise

HELD_OUT = frozenset(
    {"wice", "fool-me-twice", "begin-wow", "begin-cmu-dog", "begin-topicalchat", "factcheck-gpt", "scitail-dev"}
)
"""Sources that nothing is trained on."""

SHARES = {
    "cad-nli": 0.5,
    "snli-dev": 0.5,
    "scone": 0.3,
    "help": 0.4,
    "med": 0.4,
    "conjnli-adv": 0.5,
    "breaking-nli": 0.6,
    "qnli-dev": 0.0,
}
"""The share of a source's rows that training uses, where not all: they are short and of one kind each, or ask
something else (a question in place of a passage)."""

ENTAILED, NEUTRAL, CONTRADICTED, UNSUPPORTED = range(4)
"""Labels; UNSUPPORTED is neutral or contradicted, which of the two is not known."""

_LABELS = {"e": ENTAILED, "n": NEUTRAL, "c": CONTRADICTED}

_MARKS = (("-LRB-", "("), ("-RRB-", ")"), ("-lrb-", "("), ("-rrb-", ")"), ("``", '"'), ("''", '"'))


@dataclass(frozen=True, slots=True)
class Row:
    """A passage, a claim, and whether the first supports the second."""

    source: str
    premise: str
    claim: str
    label: int


def legible(text: str) -> str:
    """Without the marks that treebanks put for brackets and quotes."""
    for mark, sign in _MARKS:
        text = text.replace(mark, sign)
    return normalise(text)


def read(path: Path) -> list[Row]:
    """All labelled pairs."""
    rows = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            label = ENTAILED if row["label"] else _LABELS.get(row.get("label3") or "", UNSUPPORTED)
            rows.append(
                Row(
                    row["source"],
                    "\n".join(map(legible, row["premise"].split("\n"))),
                    legible(row["hypothesis"]),
                    label,
                )
            )
    return rows
