"""Agreement of the local judge with people and with other judges."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import scipy

from benchmarks import datasets
from benchmarks.datasets import Example, Key
from benchmarks.judge.baselines import Baselines
from benchmarks.tables import table
from checkers.consistency.evidence import graded_score
from models.local.judge import BundledJudge
from models.protocol import ClaimKind, Claims, Graded, ModelFailed
from models.wording import split_sentences

JUDGE = "local judge"
CONSISTENT = 0.5
BATCH = 32

Row = list[object]
Column = list[float | None]
"""A measure's value for each example; None where it has none."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The local judge's word on an example."""

    score: float
    """The score that a verdict would have, 0 to 1; 0 without sentences."""
    sentences: tuple[float, ...]
    """Support of each; even odds where the judge leaves all undecided."""
    undecided: bool
    """The outcome depends on what the judge leaves open, or it judges nothing of it."""

    @property
    def accepted(self) -> bool:
        """True if every sentence is consistent."""
        return bool(self.sentences) and min(self.sentences) >= CONSISTENT


class Bench:
    """The judge and the baselines, loaded once."""

    def __init__(self) -> None:
        self.judge = BundledJudge()
        self.baselines = Baselines()
        self._judged: dict[Key, Judged] = {}
        self.judge.load()
        print(f"judge: {self.judge.name}")

    def score_responses(self, examples: Sequence[Example]) -> list[Judged]:
        """Judge each example's sentences; once, whatever part asks."""
        todo = [example for example in examples if example.key not in self._judged]
        for start in range(0, len(todo), BATCH):
            batch = todo[start : start + BATCH]
            parts = [sentences_of(example) for example in batch]
            graded = self.judge.judge(
                [
                    Claims(example.reference, sentences, ClaimKind(example.task))
                    for example, sentences in zip(batch, parts, strict=True)
                ]
            )
            for example, sentences, answer in zip(batch, parts, graded, strict=True):
                supports = (CONSISTENT,) * len(sentences)
                if not isinstance(answer, ModelFailed):
                    supports = tuple(grade.support for grade in answer)
                score = graded_score(supports) if supports else 0.0
                self._judged[example.key] = Judged(score, supports, _is_open(answer))
        return [self._judged[example.key] for example in examples]

    def columns(self, examples: Sequence[Example], judged: Sequence[Judged]) -> dict[str, Column]:
        """A score for each example by each measure."""
        found: dict[str, Column] = {JUDGE: [result.score for result in judged]}
        self.baselines.prepare((each.reference, sentences_of(each)) for each in examples)
        for position, example in enumerate(examples):
            measured = self.baselines.scores(
                example.reference, example.response, sentences_of(example), symmetric=example.task == "paraphrase"
            )
            for name, value in (measured | example.recorded).items():
                found.setdefault(name, [None] * len(examples))[position] = value
        return found


def _is_open(graded: Graded) -> bool:
    """True if no sentence is surely at fault, and some may be."""
    if isinstance(graded, ModelFailed):
        return True
    return any(one.unsure for one in graded) and all(one.unsure or one.supported for one in graded)


def sentences_of(example: Example) -> tuple[str, ...]:
    """The set's own sentences, or ours."""
    if example.sentences is not None:
        return example.sentences
    return tuple(sentence.text for sentence in split_sentences(example.response))


def correlations(examples: Sequence[Example], columns: dict[str, Column], truth: str) -> str:
    """Agreement with a graded human judgement."""
    rows: list[Row] = []
    measures = (scipy.stats.pearsonr, scipy.stats.spearmanr)
    for name, column in columns.items():
        pairs = [(v, e.truth[truth]) for v, e in zip(column, examples, strict=True) if v is not None]
        said, true = zip(*pairs, strict=True)
        rows.append([name, *(float(measure(said, true)[0]) for measure in measures), len(pairs)])
    return table(["measure", "Pearson", "Spearman", "rows"], rows)


def areas(examples: Sequence[Example], columns: dict[str, Column]) -> str:
    """AUROC against each yes-or-no truth of a set."""
    truths = list(examples[0].truth)
    rows: list[Row] = []
    for name, column in columns.items():
        kept = [(v, e) for v, e in zip(column, examples, strict=True) if v is not None]
        values = [value for value, _ in kept]
        rows.append([name, *(area([e.truth[truth] for _, e in kept], values) for truth in truths), len(kept)])
    return table(["measure", *(f"AUROC {truth}" for truth in truths), "rows"], rows)


def area(truth: Sequence[float | bool], values: Sequence[float]) -> float | None:
    """AUROC; None where all rows are alike."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, values)) if len(set(truth)) == 2 else None


def run(bench: Bench, data: Path) -> None:
    """All sets: QAGS by people's votes, the others by a label."""
    for part in get_args(datasets.QagsPart):
        examples = datasets.qags(data, part)
        _say(f"QAGS-{part}, against the share of sentences found supported")
        print(correlations(examples, bench.columns(examples, bench.score_responses(examples)), "human"))
    for title, examples in {
        "paws_wiki, same meaning or not": datasets.paraphrases(data, "paws_wiki"),
        "msrp_test_part, same meaning or not": datasets.paraphrases(data, "msrp_test_part"),
        "FaithBench, by the worst label of a summary": datasets.faithbench(data),
    }.items():
        _say(title)
        print(areas(examples, bench.columns(examples, bench.score_responses(examples))))


def _say(title: str) -> None:
    print(f"\n### {title}\n", flush=True)
