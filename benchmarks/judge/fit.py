"""Fit the weights of the bundled judge (models/local/judge.py), and see what they tell of sources held out.

    python -m benchmarks.judge.fit PAIRS

PAIRS is an xz file of JSON lines with source, premise, hypothesis and label (1 supported). Prints balanced accuracy and
AUROC on the sources held out, without each of the features too, and the weights. Questions are those of QNLI, each with
the sentence next to it and now and then with the sentence of another question; a quarter is held out.
"""

import json
import lzma
import random
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from benchmarks.running import parser_of
from benchmarks.tables import table
from models.local.encoder import encoded
from models.local.judge import compared

HELD_OUT = ("begin-cmu-dog", "begin-topicalchat", "begin-wow", "factcheck-gpt", "fool-me-twice", "scitail-dev", "wice")
LEARNED = (
    *("fever-docnli", "fever-covidfact", "fever-symmetric", "mnli-docnli", "factcg-doc"),
    *("mnli-dev", "taxinli", "snli-dev", "conjnli"),
)
QUESTIONS = "qnli-dev"
MOST = 700
"""Rows of a source."""
_OTHERS = 0.35
"""Share of the questions that are also compared with a sentence which answers another one."""
_AT_ONCE = 200
_TEXTS = ("premise", "hypothesis")
_MARKS = (("-LRB-", "("), ("-RRB-", ")"), ("-lrb-", "("), ("-rrb-", ")"), ("``", '"'), ("''", '"'))
"""What treebanks put for brackets and quotes."""


class Row(NamedTuple):
    """A passage, a claim or question, and whether the first supports or answers the second."""

    source: str
    premise: str
    claim: str
    supported: bool


class Item(NamedTuple):
    """A row by its features."""

    source: str
    features: Mapping[str, float]
    supported: bool


def read(path: Path, rng: random.Random) -> dict[str, list[Row]]:
    """Rows drawn from each source."""
    found: dict[str, list[Row]] = {source: [] for source in (*HELD_OUT, *LEARNED, QUESTIONS)}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["source"] in found:
                premise, claim = (reduce(lambda text, mark: text.replace(*mark), _MARKS, row[name]) for name in _TEXTS)
                found[row["source"]].append(Row(row["source"], premise, claim, bool(row["label"])))
    return {source: rng.sample(rows, min(len(rows), MOST)) for source, rows in found.items()}


def items(rows: Sequence[Row]) -> list[Item]:
    """The rows, but for those without words."""
    found: list[Item] = []
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        read = encoded(sorted({text for row in part for text in (row.premise, row.claim)}))
        for row in part:
            claim, premise = read[row.claim], read[row.premise]
            if claim.words and premise.words:
                found.append(Item(row.source, compared(claim, premise).features, row.supported))
        print(f"{start + len(part)} of {len(rows)}", flush=True)
    return found


def fitted(learned: Sequence[Item], names: Sequence[str]) -> dict[str, float]:
    """Weights by logistic regression, as if half of the rows were supported."""
    model = LogisticRegression(class_weight="balanced", max_iter=1000, fit_intercept=False)
    model.fit([[one.features[name] for name in names] for one in learned], [one.supported for one in learned])
    return {name: round(float(weight), 3) for name, weight in zip(names, model.coef_[0], strict=True)}


def told(weights: Mapping[str, float], held: Sequence[Item]) -> dict[str, tuple[float, float, int]]:
    """Balanced accuracy, AUROC and rows by source."""
    found = {}
    for source in dict.fromkeys(one.source for one in held):
        own = [one for one in held if one.source == source]
        odds = [sum(weight * one.features[name] for name, weight in weights.items()) for one in own]
        truth = [one.supported for one in own]
        accuracy = balanced_accuracy_score(truth, [value >= 0 for value in odds])
        found[source] = (float(accuracy), float(roc_auc_score(truth, odds)), len(own))
    return found


def report(learned: Sequence[Item], held: Sequence[Item]) -> str:
    """What a fit, and one without each feature, tells of what was held out; and the weights of all rows."""
    names = list(learned[0].features)
    by_source = told(fitted(learned, names), held)
    lines: list[list[object]] = [[source, *values] for source, values in by_source.items()]
    for left in ("", *names[1:]):
        values = told(fitted(learned, [name for name in names if name != left]), held).values()
        accuracy, area = (fmean(column) for column in list(zip(*values, strict=True))[:2])
        lines.append([f"mean, without {left}" if left else "mean", accuracy, area, len(held)])
    shown = table(["held out", "balanced accuracy", "AUROC", "rows"], lines)
    return f"{shown}\n\n{fitted([*learned, *held], names)}"


def main() -> int:
    """Read, fit and print."""
    parser = parser_of("judge.fit", __doc__)
    parser.add_argument("pairs", type=Path, help="the labelled pairs")
    options = parser.parse_args()
    rng = random.Random(3)
    try:
        rows = read(options.pairs, rng)
    except OSError as error:
        parser.error(f"the pairs cannot be read: {error}")
    asked = rows.pop(QUESTIONS)
    others = [Row(QUESTIONS, row.premise, rng.choice(asked).claim, False) for row in asked if rng.random() < _OTHERS]
    learned = items([row for source in LEARNED for row in rows[source]])
    held = items([row for source in HELD_OUT for row in rows[source]])
    questions = items(rng.sample([*asked, *others], len(asked) + len(others)))
    quarter = len(questions) // 4
    print(f"claims\n{report(learned, held)}\n\nquestions\n{report(questions[quarter:], questions[:quarter])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
