"""Two texts compared word by word: from their differences to one number and one reason."""

import math
from dataclasses import dataclass

import numpy as np

from models.claims import SUPPORTED, Judgement
from models.local.encoded_text import Encoded, Indices
from models.local.encoder import Vectors
from models.local.entailment.differences import ALIKE, Difference, Kind, differences
from models.local.entailment.sides import Side, blocks, likeness, partners, repeated, side

BIAS = 4.8
"""Log-odds of a hypothesis that is in the premise word for word."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Log-odds taken off for a kind of difference, in full where all around it is repeated."""

    gravest: float
    others: float
    """For each further one."""


WEIGHTS: dict[Kind, Weight] = {
    "substitution": Weight(6.8, 0.0),
    "addition": Weight(5.0, 4.0),
    "figure": Weight(8.0, 4.0),
    "opposite": Weight(7.0, 1.0),
    "order": Weight(0.5, 2.2),
    "exchange": Weight(4.4, 1.4),
    "negation": Weight(7.0, 1.0),
    "grammar": Weight(6.0, 1.0),
    "pronoun": Weight(5.2, 0.0),
}

MOST = 2.0
"""The number that counts at most as further ones of a kind."""

FAR, TOO_FAR, NEAR = 2.0, 10.0, 0.15
"""Taken off for the distance of the texts' words, and more for what goes beyond the last of the three."""

_LITERAL = 0.9
"""From here on a text is said to be repeated almost word for word."""

_TELLING = 1.0
"""Log-odds from which a difference is worth naming."""


@dataclass(frozen=True, slots=True)
class TextComparison:
    """The things that a hypothesis and a premise have in common and what not."""

    differences: tuple[Difference, ...]
    literalness: float
    """0 to 1: share of the shorter text's words that the other one repeats in the same order."""
    distance: float
    """0 to 1: 1 less the cosine of a content word of the hypothesis and the nearest word of the premise, on average."""
    unfound: tuple[str, ...]
    """The hypothesis's content words without a counterpart."""


def log_odds(found: TextComparison) -> float:
    """That the premise entails the hypothesis."""
    total = BIAS - _unlike(found)
    for kind, weight in WEIGHTS.items():
        strengths = sorted((one.strength for one in found.differences if one.kind == kind), reverse=True)
        if strengths:
            total -= weight.gravest * strengths[0] + weight.others * min(MOST, sum(strengths[1:]))
    return total


def _unlike(found: TextComparison) -> float:
    """The log-odds that the texts as wholes take off, whichever words differ."""
    return FAR * found.distance + TOO_FAR * max(0.0, found.distance - NEAR)


def graded(logit: float) -> float:
    """Log-odds as a support of 0 to 1: 0.5 where they are even, 1 where nothing differs."""
    if logit > 0:
        return round(0.5 + 0.5 * min(1.0, logit / BIAS), 6)
    return round(1.0 / (1.0 + math.exp(min(60.0, -logit))), 6)


def reason_of(found: TextComparison, *, supported: bool) -> str:
    """The decisive difference, in words."""
    weighed = [(WEIGHTS[one.kind].gravest * one.strength, one) for one in found.differences]
    loss, gravest = max(weighed, key=lambda pair: pair[0], default=(0.0, None))
    if supported:
        return "it says so almost word for word" if found.literalness > _LITERAL else "it says so in other words"
    if gravest is not None and loss >= (_unlike(found) if found.unfound else _TELLING):
        return _fault(gravest)
    if found.unfound:
        listed = ", ".join(f"'{word}'" for word in dict.fromkeys(found.unfound[:4]))
        return f"nothing in it corresponds to {listed}"
    return "it says something similar but not this"


def _fault(one: Difference) -> str:
    instead = f"'{one.instead}'" if one.instead else ""
    if one.kind == "exchange":
        return f"'{one.said}' stands where '{one.instead}' does in it"
    if one.kind == "order":
        return f"'{one.said}' is said of something else in it"
    if one.kind == "negation" and instead:
        return f"it says {instead}"
    if not instead:
        # Words of grammar may stand elsewhere in it.
        return f"it does not say '{one.said}'{' in that place' if one.kind in {'negation', 'grammar'} else ''}"
    return f"it says {instead} for '{one.said}'"


LONGEST = 800
"""Words of either text that are compared one by one: of a longer premise those of the passages nearest to the
hypothesis, of a longer hypothesis the first."""


_NO_WORDS = Judgement(0.0, "one of the texts has no words", None)


def judge_entailment(premise: Encoded, hypothesis: Encoded) -> Judgement:
    """True if the premise, of any number of passages, says all that the hypothesis says."""
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
    comparison = TextComparison(
        differences=found,
        literalness=len(repeated(said, true, path)) / min(len(said), len(true)),
        distance=_distance(said.vectors[content], true.vectors),
        unfound=tuple(said.surfaces[i] for i in np.flatnonzero(content & (closest < ALIKE))),
    )
    support = graded(log_odds(comparison))
    return Judgement(
        support, reason_of(comparison, supported=support >= SUPPORTED), premise.passages[_home(true, path)]
    )


def _nearest(premise: Encoded, hypothesis: Encoded) -> Indices:
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
    """The distance of the nearest words on average (1 less the recall of BERTScore, Zhang et al. 2020)."""
    return 1.0 - round(float((said @ true.T).max(axis=1).mean()), 4)


def _home(premise: Side, path: Indices) -> int:
    """The passage that most of the hypothesis's words are matched with; the first where none is."""
    found = path[path >= 0]
    return int(np.bincount(premise.owners[found]).argmax()) if len(found) else int(premise.owners[0])
