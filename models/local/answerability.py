"""Whether a passage answers a question, which is another task than if one text entails another.

A logistic regression weighs how near the question is to the passage's sentences, by their own vectors, which were
trained to find answers to questions, and how far its words are found there.
"""

import importlib.resources
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from pydantic import TypeAdapter

from models.claims import SUPPORTED, Claims, Judgement
from models.local.alignment import align
from models.local.encoded_text import Encoded
from models.local.guards import facts, lost_words, objections, opposites, unknown_names

CEILING = 0.3
"""Support that no passage exceeds to which a guard objects: another figure, day or name."""

EXACT = 0.85
"""Likeness from which a word is found."""

_DIGITS = 3
"""The same text in another batch differs in the last digits; rounding keeps that from showing."""


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """Log-odds of an answer: what each feature adds."""

    made_by: str
    """The command that learned them."""
    learned_from: str
    """The questions and sentences, and under which licence they are."""
    bias: float
    weights: dict[str, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The findings in a passage about a question."""

    values: Mapping[str, float]
    """The features, by name."""
    home: int
    """The passage's sentence that is likeliest to hold the answer."""


@cache
def answer_weights() -> AnswerWeights:
    """The weights that come with the package."""
    text = importlib.resources.files(__package__).joinpath("answers.json").read_bytes()
    return TypeAdapter(AnswerWeights).validate_json(text)


class AnswerJudge:
    """Grades passages as answers to questions; any number of threads may call it."""

    def __init__(self, encode: Callable[[Sequence[str]], Mapping[str, Encoded]]) -> None:
        """`encode` makes texts ready for comparison, by text."""
        self._encode = encode

    def judge(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        """One judgement for each question of each entry, in order."""
        texts = self._encode([text for one in batch for text in (one.reference, *one.sentences)])
        return [[_judged(texts[question], texts[one.reference]) for question in one.sentences] for one in batch]

    def evidence(self, pairs: Sequence[tuple[str, str]]) -> list[Evidence | None]:
        """For each question and passage what was found; None without words."""
        texts = self._encode(list(dict.fromkeys(text for pair in pairs for text in pair)))
        return [evidence(texts[question], texts[passage]) for question, passage in pairs]


def evidence(question: Encoded, passage: Encoded) -> Evidence | None:
    """None where one of the texts has no words."""
    path = align(question, passage)
    if path is None:
        return None
    near = np.round(passage.gists @ question.gists.mean(axis=0), _DIGITS)
    cosines = question.vectors[question.content] @ passage.vectors[passage.content].T
    at_home = np.zeros(len(near), dtype=np.float32)
    np.add.at(at_home, passage.owners[path.reference], path.likeness / len(path.likeness))
    home = int((near + at_home / 2).argmax())
    beside = at_home[max(0, home - 1) : home + 2].sum()
    names = [like for at, like in zip(path.claim, path.closest, strict=True) if at and _is_name(question, int(at))]
    values = {
        "near": float(near[home]),
        "nearest": float(near.max()),
        "cover_home": float(at_home[home]),
        "cover_beside": float(beside),
        "cover": float(path.closest.mean()),
        "worst": float(path.closest.min()),
        "exact": float((path.closest >= EXACT).mean()),
        "recall": float(np.round(cosines.max(axis=1).mean(), _DIGITS)),
        "nameless": sum(like < EXACT for like in names) / max(1, len(names)),
    }
    return Evidence(values, home)


def _is_name(text: Encoded, at: int) -> bool:
    return text.words[at].surface[0].isupper()


def _judged(question: Encoded, passage: Encoded) -> Judgement:
    found = evidence(question, passage)
    if found is None:
        return Judgement(0.0, "one of the texts has no words", None)
    learned = answer_weights()
    logit = learned.bias + sum(weight * found.values[name] for name, weight in learned.weights.items())
    support = round(1.0 / (1.0 + math.exp(-logit)), 4)
    asked, there = facts(" ".join(question.passages)), facts(" ".join(passage.passages))
    home = passage.passages[found.home]
    nothing = facts("")
    found_against = chain(
        objections(asked, there, nothing, nothing), unknown_names(asked, there, nothing), opposites(asked, there)
    )
    objection = next(found_against, None)
    if objection is not None:
        return Judgement(min(support, CEILING), objection, home)
    if support >= SUPPORTED:
        return Judgement(support, f"“{home}” answers the question", home)
    lost = ", ".join(f"'{word}'" for word in dict.fromkeys(lost_words(asked, there)[:4]))
    return Judgement(support, f"nothing there has {lost}" if lost else f"“{home}” does not answer this", home)
