"""Questions to a knowledge store: right passages accepted, wrong ones rejected, by set and next to plain baselines.

The even source rows were looked at while the judge was made, and the baselines' thresholds are the best on them; what
is printed is measured on the odd ones.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from benchmarks.retrieval.question_pairs import KINDS, Pair, pairs
from benchmarks.tables import table
from models.claims import SUPPORTED, ClaimKind, Claims
from models.local.encoder import bundled_model
from models.local.judge import BundledJudge
from models.local.text import plain, words_of
from models.local_grader import decided
from models.model_loading import sentence_transformer

NEAR_MISSES = Path(__file__).parent / "near_misses.jsonl"
"""Own questions, each with a passage that answers it and one that nearly does."""

AT_ONCE = 64
"""Pairs that are encoded together."""

Scores = npt.NDArray[np.float64]
Measure = Callable[[Sequence[Pair]], Scores]


def print_questions(data: Path, most: int | None) -> None:
    """Measure up to `most` pairs of each set and kind, and print."""
    tuned, shown = (_up_to(list(pairs(data, one)), most) for one in (0, 1))
    judge = BundledJudge()
    measures: Mapping[str, tuple[Measure, float | None]] = {
        "local judge": (lambda some: _graded(judge, some, ClaimKind.ANSWERABILITY), SUPPORTED),
        "as statements": (lambda some: _graded(judge, some, ClaimKind.ENTAILMENT), SUPPORTED),
        "cosine": (_cosines, None),
        "word overlap": (_overlaps, None),
    }
    found: dict[str, npt.NDArray[np.bool_]] = {}
    for name, (measure, given) in measures.items():
        scores = measure(shown)
        threshold = best_threshold(measure(tuned), tuned) if given is None else given
        found[name] = scores >= threshold
        area = roc_auc_score([pair.kind == "right" for pair in shown], scores)
        print(f"{name}: threshold {threshold:.3f}, AUROC {area:.3f}")
    print()
    print(by_set(shown, found))


def print_near_misses() -> None:
    """Right passages accepted and near misses rejected, by the kind of near miss."""
    rows = [json.loads(line) for line in NEAR_MISSES.read_text(encoding="utf-8").splitlines()]
    judge = BundledJudge()
    accepted = {
        side: _graded(judge, [Pair("own", side, row["question"], row[side]) for row in rows], ClaimKind.ANSWERABILITY)
        >= SUPPORTED
        for side in ("right", "wrong")
    }
    kinds = np.array([row["kind"] for row in rows])
    lines: list[list[object]] = []
    for kind in [*dict.fromkeys(kinds.tolist()), "all"]:
        at = (kinds == kind) | (kind == "all")
        right, wrong = (int(accepted[side][at].sum()) for side in ("right", "wrong"))
        lines.append([kind, f"{right} of {at.sum()}", f"{at.sum() - wrong} of {at.sum()}"])
    print(table(["near miss", "right passage accepted", "near miss rejected"], lines))


def by_set(shown: Sequence[Pair], found: Mapping[str, npt.NDArray[np.bool_]]) -> str:
    """The share of right passages that is accepted, and of wrong ones that is rejected."""
    lines: list[list[object]] = []
    sources = np.array([pair.source for pair in shown])
    kinds = np.array([pair.kind for pair in shown])
    for source in [*dict.fromkeys(sources.tolist()), "all"]:
        for kind in [*KINDS, "all wrong"]:
            at = (sources == source) | (source == "all")
            at &= (kinds != "right") if kind == "all wrong" else (kinds == kind)
            if at.any():
                rates = [float((accepted[at] == (kind == "right")).mean()) for accepted in found.values()]
                lines.append([source, kind, "accepted" if kind == "right" else "rejected", int(at.sum()), *rates])
    return table(["set", "passage", "rate of", "pairs", *found], lines)


def best_threshold(scores: Scores, tuned: Sequence[Pair]) -> float:
    """Where the rates of right passages accepted and of wrong ones rejected have the highest mean."""
    right = np.array([pair.kind == "right" for pair in tuned])
    candidates = np.unique(scores)
    means = [((scores[right] >= one).mean() + (scores[~right] < one).mean()) / 2 for one in candidates]
    return float(candidates[int(np.argmax(means))])


def _up_to(every: Sequence[Pair], most: int | None) -> list[Pair]:
    if most is None:
        return list(every)
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in every:
        groups.setdefault((pair.source, pair.kind), []).append(pair)
    return [pair for group in groups.values() for pair in group[:most]]


def _graded(judge: BundledJudge, some: Sequence[Pair], kind: ClaimKind) -> Scores:
    found: list[float] = []
    for start in range(0, len(some), AT_ONCE):
        batch = [Claims(pair.passage, (pair.question,), kind) for pair in some[start : start + AT_ONCE]]
        found += [grade.support for graded in judge.judge(batch) for grade in decided(graded)]
    return np.array(found)


def _cosines(some: Sequence[Pair]) -> Scores:
    model = sentence_transformer(str(bundled_model()), local_files_only=True)
    questions, passages = (
        model.encode([plain(text) for text in side], normalize_embeddings=True, show_progress_bar=False)
        for side in ([pair.question for pair in some], [pair.passage for pair in some])
    )
    cosines: Scores = (questions * passages).sum(axis=1).astype(np.float64)
    return cosines


def _overlaps(some: Sequence[Pair]) -> Scores:
    """The share of the question's content words that the passage has."""
    shares = []
    for pair in some:
        asked, there = ({word.key for word in words_of(plain(text), 50_000) if word.content} for text in pair[2:])
        shares.append(len(asked & there) / max(1, len(asked)))
    return np.array(shares)
