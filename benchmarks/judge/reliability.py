"""How often claims with a given support are right: a picture of how far the support is a probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks import datasets
from benchmarks.judge.agreement import Bench
from benchmarks.tables import table

PICTURE = Path(__file__).parents[1] / "pictures" / "reliability.svg"

BINS = 10
_FEWEST = 20
"""Claims of a bin that are drawn at least."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims of like support."""

    support: float
    """In the mean."""
    right: float
    """The share that is."""
    claims: int


def run_reliability(bench: Bench, data: Path) -> None:
    """Print the bins of each task, and draw them."""
    by_task = {
        "summary, sentences of QAGS": _sentences(bench, data),
        "paraphrase, PAWS-Wiki and MSRP": _pairs(bench, data),
    }
    found = {task: bins(supports, rights) for task, (supports, rights) in by_task.items()}
    lines = [[task, one.support, one.right, one.claims] for task, some in found.items() for one in some]
    print(table(["task", "mean support", "right", "claims"], lines))
    for task, some in found.items():
        total = sum(one.claims for one in some)
        error = sum(abs(one.support - one.right) * one.claims for one in some) / total
        print(f"\n{task}: expected calibration error {error:.3f} over {total} claims")
    draw(found, PICTURE)


def bins(supports: Sequence[float], rights: Sequence[bool]) -> list[Bin]:
    """Claims in ten bins of equal width, the empty ones left out."""
    each, true = np.array(supports), np.array(rights)
    which = np.minimum((each * BINS).astype(int), BINS - 1)
    return [
        Bin(float(each[which == at].mean()), float(true[which == at].mean()), int((which == at).sum()))
        for at in np.unique(which)
    ]


def draw(found: dict[str, list[Bin]], path: Path) -> None:
    """A curve a task beside the diagonal."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="as often right as the support says")
    for task, some in found.items():
        drawn = [one for one in some if one.claims >= _FEWEST]
        axes.plot([one.support for one in drawn], [one.right for one in drawn], marker="o", label=task)
    axes.set(xlabel="support", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    axes.legend(loc="upper left", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def _sentences(bench: Bench, data: Path) -> tuple[list[float], list[bool]]:
    examples = [example for part in get_args(datasets.QagsPart) for example in datasets.qags(data, part)]
    judged = bench.score_responses(examples)
    supports = [support for one in judged for support in one.sentences]
    return supports, [truth for example in examples for truth in example.sentence_truth]


def _pairs(bench: Bench, data: Path) -> tuple[list[float], list[bool]]:
    examples = [example for name in get_args(datasets.ParaphraseSet) for example in datasets.paraphrases(data, name)]
    judged = bench.score_responses(examples)
    return [one.score for one in judged], [bool(example.truth["same"]) for example in examples]
