"""From what was found in a passage to one number and one reason: a logistic regression with weights from a file."""

import importlib.resources
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from pydantic import TypeAdapter

from models.claims import SUPPORTED, Claims, Judgement
from models.local.answers.features import Evidence, evidence
from models.local.encoded_text import Encoded, Numbers
from models.text.questions import asked

CEILING = -0.5
"""Log-odds that no passage with a fault exceeds, however like the question it is."""

LENIENCE = 0.35
"""Log-odds added: the questions that the weights were learned from were made to mislead, others are plainer."""

_DIGITS = 3
"""The same text in another batch differs in the last digits; rounding keeps that from showing."""

_LISTED = 4


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """Log-odds of an answer: what each feature adds."""

    made_by: str
    """The command that learned them."""
    learned_from: str
    """The questions and sentences, and under which licence they are."""
    bias: float
    weights: dict[str, float]


@cache
def answer_weights() -> AnswerWeights:
    """The weights that come with the package."""
    text = importlib.resources.files(__package__).joinpath("weights.json").read_bytes()
    return TypeAdapter(AnswerWeights).validate_json(text)


class AnswerJudge:
    """Grades passages as answers to questions; any number of threads may call it."""

    def __init__(self, encode: Callable[[Sequence[str]], Mapping[str, Encoded]]) -> None:
        """`encode` makes texts ready for comparison, by text."""
        self._encode = encode

    def judge(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        """One judgement for each question of each entry, in order."""
        found = iter(self.evidence([(question, one.reference) for one in batch for question in one.sentences]))
        return [[_judged(*next(found)) for _ in one.sentences] for one in batch]

    def evidence(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Evidence | None, tuple[str, ...]]]:
        """For each question and passage what was found (None without words), and the passage's sentences."""
        texts = self._encode(list(dict.fromkeys(text for pair in pairs for text in pair)))
        return [(_evidence(texts[question], texts[passage]), texts[passage].passages) for question, passage in pairs]


def _evidence(question: Encoded, passage: Encoded) -> Evidence | None:
    if not question.words or not passage.words:
        return None
    near: Numbers = np.round(passage.gists @ question.gists.mean(axis=0), _DIGITS)
    return evidence(question, asked(question.words), passage, near)


def _judged(found: Evidence | None, sentences: tuple[str, ...]) -> Judgement:
    if found is None:
        return Judgement(0.0, "one of the texts has no words", None)
    learned = answer_weights()
    logit = LENIENCE + learned.bias + sum(weight * found.values[name] for name, weight in learned.weights.items())
    if found.faults:
        logit = min(logit, CEILING)
    support = round(1.0 / (1.0 + math.exp(-logit)), 4)
    reason = "a sentence of it answers the question" if support >= SUPPORTED else _why_not(found)
    return Judgement(support, reason, sentences[found.home])


def _why_not(found: Evidence) -> str:
    if found.faults:
        return found.faults[0].reason
    if found.lost:
        return f"nothing in it corresponds to {', '.join(f'“{word}”' for word in found.lost[:_LISTED])}"
    return "it is about something similar and does not answer this"
