"""Agreement of the local judge with people and with other judges."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import scipy

from benchmarks import datasets
from benchmarks.datasets import Example, Key
from benchmarks.judge.baselines import Baselines
from benchmarks.tables import table
from checkers.consistency.evidence import graded_score
from models.claims import ClaimKind, Claims
from models.local.judge import BundledJudge
from models.local_grader import Graded
from models.protocol import ModelFailed
from models.sentences import split_sentences

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
    """Support of each sentence, averaged over the references."""
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
        """Judge each example's sentences against each of its references; once, whatever part asks."""
        todo = list({example.key: example for example in examples if example.key not in self._judged}.values())
        for start in range(0, len(todo), BATCH):
            batch = todo[start : start + BATCH]
            parts = [sentences_of(example) for example in batch]
            claims = [
                Claims(reference, sentences, ClaimKind(example.task), example.prompt)
                for example, sentences in zip(batch, parts, strict=True)
                for reference in example.references
            ]
            graded = iter(self.judge.judge(claims))
            for example, sentences in zip(batch, parts, strict=True):
                answers = [next(graded) for _ in example.references]
                rounds = [_supports(one, len(sentences)) for one in answers]
                supports = tuple(fmean(by_sentence) for by_sentence in zip(*rounds, strict=True)) if sentences else ()
                self._judged[example.key] = Judged(
                    graded_score(supports) if supports else 0.0, supports, any(map(_is_open, answers))
                )
        return [self._judged[example.key] for example in examples]

    def columns(self, examples: Sequence[Example], judged: Sequence[Judged]) -> dict[str, Column]:
        """A score for each example by each measure."""
        found: dict[str, Column] = {JUDGE: [result.score for result in judged]}
        self.baselines.prepare((r, sentences_of(e)) for e in examples for r in e.references)
        for position, example in enumerate(examples):
            rounds = [
                self.baselines.scores(
                    reference, example.response, sentences_of(example), symmetric=example.task == "paraphrase"
                )
                for reference in example.references
            ]
            measured = {name: fmean(scores[name] for scores in rounds) for name in rounds[0]}
            for name, value in (measured | example.recorded).items():
                found.setdefault(name, [None] * len(examples))[position] = value
        return found


def _supports(graded: Graded, count: int) -> list[float]:
    """The supports; even odds where the judge leaves all undecided."""
    return [CONSISTENT] * count if isinstance(graded, ModelFailed) else [grade.support for grade in graded]


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


def correlations(examples: Sequence[Example], columns: dict[str, Column], truth: str, published: list[Row]) -> str:
    """Agreement with a graded human judgement."""
    rows: list[Row] = []
    measures = (scipy.stats.pearsonr, scipy.stats.spearmanr, scipy.stats.kendalltau)
    for name, column in columns.items():
        pairs = [(v, e.truth[truth]) for v, e in zip(column, examples, strict=True) if v is not None]
        said, true = zip(*pairs, strict=True)
        rows.append([name, *(float(measure(said, true)[0]) for measure in measures), len(pairs)])
    return table(["measure", "Pearson", "Spearman", "Kendall", "rows"], rows + published)


def areas(examples: Sequence[Example], columns: dict[str, Column], published: list[Row]) -> str:
    """AUROC against each yes-or-no truth of a set."""
    truths = list(examples[0].truth)
    rows: list[Row] = []
    for name, column in columns.items():
        kept = [(v, e) for v, e in zip(column, examples, strict=True) if v is not None]
        values = [value for value, _ in kept]
        rows.append([name, *(area([e.truth[truth] for _, e in kept], values) for truth in truths), len(kept)])
    return table(["measure", *(f"AUROC {truth}" for truth in truths), "rows"], rows + published)


def area(truth: Sequence[float | bool], values: Sequence[float]) -> float | None:
    """AUROC; None where all rows are alike."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, values)) if len(set(truth)) == 2 else None


def run_qags(bench: Bench, data: Path) -> None:
    """Sentences and summaries of QAGS."""
    published: dict[datasets.QagsPart, list[Row]] = {
        "cnndm": [
            ["DCR with GPT-4 (published)", 0.782, 0.760, 0.706, 235],
            ["DCR with GPT-3.5 (published)", 0.699, 0.648, 0.596, 235],
            ["G-Eval-4 (published)", 0.631, 0.685, 0.591, 235],
            ["BARTScore (published)", 0.735, 0.680, None, 235],
        ],
        "xsum": [
            ["DCR with GPT-4 (published)", 0.602, None, None, 239],
            ["DCR with GPT-3.5 (published)", 0.573, None, None, 239],
            ["G-Eval-4 (published)", 0.558, 0.537, 0.472, 239],
        ],
    }
    for part, rows in published.items():
        examples = datasets.qags(data, part)
        judged = bench.score_responses(examples)
        say(f"QAGS-{part}, against the share of sentences found supported")
        print(correlations(examples, bench.columns(examples, judged), "human", rows))


def run_paraphrase(bench: Bench, data: Path) -> None:
    """Paraphrase pairs of PAWS-Wiki and MSRP."""
    published: dict[datasets.ParaphraseSet, list[Row]] = {
        "paws_wiki": [
            ["DCR with GPT-4 (published)", 0.792, 8000],
            ["DCR with GPT-3.5 (published)", 0.770, 8000],
            ["BERTScore (published)", 0.693, 8000],
        ],
        "msrp_test_part": [],
    }
    for name, rows in published.items():
        examples = datasets.paraphrases(data, name)
        judged = bench.score_responses(examples)
        say(f"{name}, same meaning or not")
        print(areas(examples, bench.columns(examples, judged), rows))


def _areas_of(load: Callable[[Path], list[Example]], title: str) -> Callable[[Bench, Path], None]:
    def run(bench: Bench, data: Path) -> None:
        examples = load(data)
        say(title)
        print(areas(examples, bench.columns(examples, bench.score_responses(examples)), []))

    return run


RUNS: dict[str, Callable[[Bench, Path], None]] = {
    "qags": run_qags,
    "paraphrase": run_paraphrase,
    "faithbench": _areas_of(datasets.faithbench, "FaithBench, by the worst label of a summary"),
    "wikibio": _areas_of(datasets.wikibio, "WikiBio GPT-3, accurate sentences or not, mean over the re-samples"),
    "sac3": _areas_of(
        datasets.sac3, "SAC3 HotpotQA, factual answers or not, mean over re-samples of the question and its paraphrases"
    ),
}


def say(title: str) -> None:
    """A heading."""
    print(f"\n### {title}\n", flush=True)
