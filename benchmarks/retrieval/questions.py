"""Questions to a knowledge store: right passages accepted, wrong ones rejected, next to cosine.

Of HotpotQA's questions (HaluEval) a passage is `right` that holds the answer; wrong are `elsewhere`, the rest of the
same text without the sentences that hold it, and `other`, the passage of the most similar other question.

The even source rows were looked at while the judge was made, and the threshold of cosine is the best on them; what is
printed is measured on the odd ones.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.datasets import rows
from benchmarks.retrieval.live import AT_ONCE, Scores, cosines
from benchmarks.tables import table
from models.local.judge import BundledJudge
from models.local.text import stem
from models.local_grader import decided
from models.protocol import SUPPORTED, ClaimKind, Claims
from models.wording import split_sentences

NEAR_MISSES = Path(__file__).parent / "near_misses.jsonl"
"""Own questions, each with a passage that answers it and one that nearly does."""

_LEAST_WORDS = 5
"""Of a passage that is left without the answer."""
_OTHER_SENTENCES = 3


class Pair(NamedTuple):
    """A question and a stored passage."""

    question: str
    passage: str
    kind: str
    """How they belong together."""


def print_questions(data: Path, most: int | None) -> None:
    """Measure up to `most` questions of either half, and print."""
    tuned, shown = (list(pairs(data, half, most)) for half in (0, 1))
    kinds = np.array([pair.kind for pair in shown])
    measures = {"local judge": (_graded(shown), SUPPORTED), "cosine": (_cosines(shown), best_threshold(tuned))}
    lines: list[list[object]] = []
    for kind in [*dict.fromkeys(kinds.tolist()), "all wrong"]:
        at = kinds != "right" if kind == "all wrong" else kinds == kind
        accepted = [float((scores[at] >= threshold).mean()) for scores, threshold in measures.values()]
        rates = accepted if kind == "right" else [1 - one for one in accepted]
        lines.append([kind, "accepted" if kind == "right" else "rejected", int(at.sum()), *rates])
    print(table(["passage", "rate of", "pairs", *measures], lines))
    areas = (f"{name} {roc_auc_score(kinds == 'right', scores):.3f}" for name, (scores, _) in measures.items())
    print(f"\nAUROC: {', '.join(areas)}")


def print_near_misses() -> None:
    """Right passages accepted and near misses rejected, by the kind of near miss."""
    missed = [json.loads(line) for line in NEAR_MISSES.read_text(encoding="utf-8").splitlines()]
    right, wrong = (
        _graded([Pair(row["question"], row[side], side) for row in missed]) >= SUPPORTED for side in ("right", "wrong")
    )
    kinds = np.array([row["kind"] for row in missed])
    lines: list[list[object]] = []
    for kind in [*dict.fromkeys(kinds.tolist()), "all"]:
        at = (kinds == kind) | (kind == "all")
        lines.append([kind, f"{right[at].sum()} of {at.sum()}", f"{(~wrong[at]).sum()} of {at.sum()}"])
    print(table(["near miss", "right passage accepted", "near miss rejected"], lines))


def pairs(data: Path, half: int, most: int | None) -> Iterator[Pair]:
    """The pairs of every second source row: 0 the even ones, 1 the odd ones."""
    found: dict[str, tuple[str, str]] = {}
    for row in rows(data, "halueval", "qa_one_turn.jsonl"):
        # The origin joins its paragraphs without a blank.
        passage = re.sub(r"(?<=[a-z0-9)\"”]\.)(?=[A-Z\"“])", " ", row["knowledge"]).strip()
        if row["right_answer"].lower() in passage.lower():
            found.setdefault(row["question"], (passage, row["right_answer"].lower()))
    mine = list(found.items())[half::2][:most]
    for question, (passage, answer) in mine:
        yield Pair(question, passage, "right")
        rest = " ".join(one.text for one in split_sentences(passage) if answer not in one.text.lower())
        if len(rest.split()) >= _LEAST_WORDS:
            yield Pair(question, rest, "elsewhere")
        others = [(asked, text) for asked, (text, _) in mine if text != passage and answer not in text.lower()]
        if others:
            _, other = max(others, key=lambda one: _likeness(question, one[0]))
            yield Pair(question, " ".join(one.text for one in split_sentences(other)[:_OTHER_SENTENCES]), "other")


def _likeness(question: str, other: str) -> float:
    mine, theirs = _stems(question), _stems(other)
    return len(mine & theirs) / len(mine | theirs)


@cache
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in re.findall(r"\w+", text))


def best_threshold(tuned: Sequence[Pair]) -> float:
    """Of cosine: where the rates of right passages accepted and of wrong ones rejected have the highest mean."""
    scores, right = _cosines(tuned), np.array([pair.kind == "right" for pair in tuned])
    candidates = np.unique(scores)
    means = [((scores[right] >= one).mean() + (scores[~right] < one).mean()) / 2 for one in candidates]
    return float(candidates[int(np.argmax(means))])


def _graded(some: Sequence[Pair]) -> Scores:
    judge, found = BundledJudge(), []
    for start in range(0, len(some), AT_ONCE):
        batch = [Claims(pair.passage, (pair.question,), ClaimKind.ANSWERABILITY) for pair in some[start:][:AT_ONCE]]
        found += [grade.support for graded in judge.judge(batch) for grade in decided(graded)]
    return np.array(found)


def _cosines(some: Sequence[Pair]) -> Scores:
    return cosines([(pair.question, pair.passage) for pair in some])
