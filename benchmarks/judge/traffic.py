"""Recorded traffic of deployed models: the judge's order of them next to that of recorded detectors."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean

from scipy.stats import spearmanr

from benchmarks import datasets
from benchmarks.datasets import Example
from benchmarks.judge.agreement import Bench, Judged, area
from benchmarks.tables import table

DETECTORS = ("hhem_2_1", "hhem_v1", "trueteacher", "true_nli")

_Both = tuple[Example, Judged]


def run(bench: Bench, data: Path) -> None:
    """Print rates by model, the rank correlations of the models, and the AUROC of single responses."""
    examples = datasets.traffic(data)
    every = list(zip(examples, bench.score_responses(examples), strict=True))
    by_model: dict[str, list[_Both]] = defaultdict(list)
    for one in every:
        by_model[one[0].group].append(one)
    rows: list[list[object]] = []
    for model, own in by_model.items():
        accepted, undecided = sum(one.accepted for _, one in own), sum(one.undecided for _, one in own)
        sure = [one.accepted for _, one in own if not one.undecided]
        scores = [fmean(one.score for _, one in own), *(_recorded(own, name) for name in DETECTORS)]
        rows.append([model, accepted, undecided, fmean(sure or [0.0]), *scores])
    rows.sort(key=lambda row: -float(str(row[3])))
    print(table(["model", "accepted", "undecided", "success", "score", *DETECTORS], rows))
    success, score, *recorded = list(zip(*rows, strict=True))[3:]
    order: list[list[object]] = [
        [name, float(spearmanr(success, rates).statistic), float(spearmanr(score, rates).statistic)]
        for name, rates in zip(DETECTORS, recorded, strict=True)
    ]
    print("\nRank correlation of the models (Spearman)\n")
    print(table(["with", "by success rate", "by mean score"], order))
    compared = [(one.recorded["true_nli"] >= 0.5, judged.score) for one, judged in every if "true_nli" in one.recorded]
    found = area(*zip(*compared, strict=True))
    print(f"\nSingle responses against true_nli: AUROC {found:.3f} over {len(compared)}")


def _recorded(own: list[_Both], detector: str) -> float:
    """The mean of a detector's scores; some responses have none recorded."""
    return fmean(one.recorded[detector] for one, _ in own if detector in one.recorded)
