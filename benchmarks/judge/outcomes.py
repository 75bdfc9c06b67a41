"""Responses at the default settings, accepted or rejected, next to what people said of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import get_args

from sklearn.metrics import balanced_accuracy_score, roc_curve

from benchmarks import datasets
from benchmarks.datasets import Example
from benchmarks.judge.agreement import JUDGE, Bench
from benchmarks.tables import table

Set = tuple[str, list[Example], list[bool]]
"""Its name, its responses, and for each whether it should be accepted."""


def run_outcomes(bench: Bench, data: Path) -> None:
    """Balanced accuracies over the sets, next to those of plain measures."""
    accuracies: list[list[object]] = []
    found, shares = [], []
    for name, examples, truth in _sets(data):
        judged = bench.score_responses(examples)
        accepted = [result.accepted for result in judged]
        worst = [min(result.sentences, default=0.0) for result in judged]
        columns = bench.columns(examples, judged)
        plain = {
            measure: best_balanced(truth, [value or 0.0 for value in column])
            for measure, column in columns.items()
            if measure != JUDGE and not any(measure in example.recorded for example in examples)
        }
        best = max(plain, key=lambda measure: plain[measure])
        found.append(float(balanced_accuracy_score(truth, accepted)))
        sure = [a == t for a, t, result in zip(accepted, truth, judged, strict=True) if not result.undecided]
        shares.append((len(sure) / len(truth), fmean(sure or [0.0])))
        thresholds = best_balanced(truth, worst), f"{plain[best]:.3f} ({best})"
        accuracies.append([name, found[-1], *thresholds, *shares[-1], len(truth)])
    heads = ["set", "balanced accuracy", "best threshold", "best plain measure, best threshold"]
    print(table([*heads, "decided", "right of it", "responses"], accuracies))
    decided, right = map(fmean, zip(*shares, strict=True))
    print(f"\nmean {fmean(found):.3f}, least {min(found):.3f}; decided {decided:.1%}, right of it {right:.1%}")


def _sets(data: Path) -> Iterator[Set]:
    for part in get_args(datasets.QagsPart):
        examples = datasets.qags(data, part)
        yield f"QAGS-{part}", examples, [all(example.sentence_truth) for example in examples]
    examples = datasets.faithbench(data)
    yield "FaithBench, not Unwanted", examples, [bool(example.truth["not Unwanted"]) for example in examples]
    examples = [example for example in datasets.traffic(data) if "true_nli" in example.recorded]
    yield "traffic, true_nli", examples, [example.recorded["true_nli"] >= 0.5 for example in examples]
    for name in ("paws_wiki", "msrp_test_part"):
        examples = datasets.paraphrases(data, name)
        yield name, examples, [bool(example.truth["same"]) for example in examples]
    edited = datasets.summedits(data)
    for domain in dict.fromkeys(example.group for example in edited):
        examples = [example for example in edited if example.group == domain]
        yield f"SummEdits, {domain}", examples, [bool(example.truth["consistent"]) for example in examples]


def best_balanced(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """The balanced accuracy at the threshold that is best for these very rows."""
    false, true, _ = roc_curve(truth, scores)
    return float((true + 1 - false).max() / 2)
