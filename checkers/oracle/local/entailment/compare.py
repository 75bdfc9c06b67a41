"""Two texts held against each other word by word."""

from __future__ import annotations

import numpy as np

from checkers.oracle.claims import SUPPORTED, Judgement
from checkers.oracle.local.encoder import Vectors
from checkers.oracle.local.entailment.differences import ALIKE, differences
from checkers.oracle.local.entailment.likeness import likeness
from checkers.oracle.local.entailment.script import blocks, partners, repeated
from checkers.oracle.local.entailment.side import Side, side
from checkers.oracle.local.entailment.verdict import Comparison, graded, log_odds, reason_of
from checkers.oracle.local.material import Indices, Material

LONGEST = 800
"""Words of either text that are compared one by one: of a longer premise those of the passages nearest to the
hypothesis, of a longer hypothesis the first."""


_NO_WORDS = Judgement(0.0, "one of the texts has no words", None)


def judge_entailment(premise: Material, hypothesis: Material) -> Judgement:
    """Whether the premise, of any number of passages, says all that the hypothesis says."""
    if not premise.words or not hypothesis.words:
        return _NO_WORDS
    first = np.arange(min(LONGEST, len(hypothesis.words)), dtype=np.int64)
    said, true = side(hypothesis, first), side(premise, _nearest(premise, hypothesis))
    if not len(said) or not len(true):
        return _NO_WORDS
    like = likeness(said, true)
    path = partners(said, true, like)
    found = tuple(differences(said, true, like, list(blocks(said, true, path))))
    closest = like.max(axis=1)
    content = said.content if said.content.any() else np.ones(len(said), dtype=bool)
    comparison = Comparison(
        differences=found,
        literalness=len(repeated(said, true, path)) / min(len(said), len(true)),
        lost=float((1.0 - closest[content]).mean()),
        distance=_distance(said.vectors[content], true.vectors),
        unfound=tuple(said.surfaces[i] for i in np.flatnonzero(content & (closest < ALIKE))),
    )
    support = graded(log_odds(comparison))
    return Judgement(
        support, reason_of(comparison, supported=support >= SUPPORTED), premise.passages[_home(true, path)]
    )


def _nearest(premise: Material, hypothesis: Material) -> Indices:
    """The words of the premise, or of those of its passages that hold most of what is near the hypothesis."""
    rows = np.arange(len(premise.words), dtype=np.int64)
    if len(rows) <= LONGEST:
        return rows
    near = (premise.vectors @ hypothesis.vectors[hypothesis.content].T).argmax(axis=0)
    votes = np.bincount(premise.owners[near], minlength=len(premise.passages))
    kept: list[int] = []
    for passage in np.argsort(-votes, kind="stable").tolist():
        mine = rows[premise.owners == passage]
        kept += mine[: LONGEST - len(kept)].tolist()
        if len(kept) == LONGEST:
            break
    return np.array(sorted(kept), dtype=np.int64)


def _distance(said: Vectors, true: Vectors) -> float:
    """How far the nearest words are on average (1 less the recall of BERTScore, Zhang et al. 2020)."""
    return 1.0 - round(float((said @ true.T).max(axis=1).mean()), 4)


def _home(premise: Side, path: Indices) -> int:
    """The passage that most of the hypothesis's words are matched with; the first where none is."""
    found = path[path >= 0]
    return int(np.bincount(premise.owners[found]).argmax()) if len(found) else int(premise.owners[0])
