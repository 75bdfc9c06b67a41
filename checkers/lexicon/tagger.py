"""Parts of speech in context: the likeliest tags under a hidden Markov model over what the lexicon allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

from checkers.lexicon.lookup import lexicon
from checkers.lexicon.tags import BOUNDARY, Model, emissions


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence as the tagger understands it."""

    tags: tuple[str, ...]
    fit: float
    """How well the words go together: the logarithm of their probability over that of the same words in any order.

    How common a word is does not count, so that sentences that differ in a word can be compared.
    """


@cache
def _model() -> Model:
    return Model.read(lexicon().tagging)


def tag_words(words: Sequence[str]) -> tuple[str, ...]:
    """The Penn Treebank tag of each word of one sentence, which may be in lower case.

    Words are as `tokens` cuts them: punctuation stands alone, contractions are two words (do, n't).
    """
    return read_words(words).tags


def read_words(words: Sequence[str]) -> Reading:
    """The likeliest tags of a sentence's words, and how well they fit together."""
    model = _model()
    return _best_reading(emissions(words, lexicon(), model), model)


def _best_reading(columns: Sequence[Mapping[str, float]], model: Model) -> Reading:
    """The likeliest path through the tags that each place may have (Viterbi)."""
    best = {BOUNDARY: 1.0}
    came: list[dict[str, str]] = []
    fit = 0.0
    for column in (*columns, {BOUNDARY: 1.0}):
        steps = {tag: max((p * model.transitions[before][tag], before) for before, p in best.items()) for tag in column}
        came.append({tag: before for tag, (_, before) in steps.items()})
        raw = {tag: p * column[tag] for tag, (p, _) in steps.items()}
        # Scaled, so that a long sentence does not fall below what a float can hold.
        top = max(raw.values())
        fit += log(top)
        best = {tag: p / top for tag, p in raw.items()}
    path = [BOUNDARY]
    for back in reversed(came):
        path.append(back[path[-1]])
    return Reading(tuple(reversed(path[1:-1])), fit)
