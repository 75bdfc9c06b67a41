"""Negative expression: a "not" more or less, or an adjective or adverb turned into its opposite."""

from collections.abc import Iterator
from random import Random

from lab.edits.forms import part
from lab.edits.sentence import TaggedSentence
from models.text.closed_class import DO
from models.text.lexicon import lexicon
from models.text.negation import NEGATORS

_BE = frozenset("am is are was were".split())
_PERFECT = frozenset({"has", "have", "had"})
_AUXILIARIES = _BE | _PERFECT | DO | frozenset("can could may might must shall should will would".split())
_DETERMINING = frozenset({"same", "other"})
"""Opposites of each other that go with other articles: at the same time, at another time."""


def negations(sentence: TaggedSentence, random: Random) -> Iterator[str]:
    """Texts that deny what the sentence says of one thing, in random order."""
    made = [*_without_not(sentence), *_with_not(sentence), *_opposites(sentence)]
    random.shuffle(made)
    yield from made


def _without_not(sentence: TaggedSentence) -> Iterator[str]:
    for at, word in enumerate(sentence.words):
        # "did not go" would be left with a "did" that nobody says.
        if word.lower == "not" and sentence.lower(at - 1) in _AUXILIARIES - DO:
            yield sentence.without(at, at)


def _with_not(sentence: TaggedSentence) -> Iterator[str]:
    asks = sentence.words and sentence.words[-1].text == "?"
    negated = any(word.lower in NEGATORS for word in sentence.words)
    for at, word in enumerate(sentence.words):
        if asks or negated or word.lower not in _AUXILIARIES or not word.tag.startswith(("VB", "MD")):
            continue
        if at > 0 and _carries(sentence, at):
            yield sentence.with_after(at, "not")


def _carries(sentence: TaggedSentence, at: int) -> bool:
    """True if the word is an auxiliary here, and "not" may follow it."""
    following = sentence.tag(at + 1)
    if sentence.lower(at) in _BE:
        return following in ("VBG", "VBN", "JJ", "DT", "IN") and sentence.lower(at + 1) not in ("that", "as", "the")
    if sentence.lower(at) in _PERFECT:
        return following == "VBN"
    return following == "VB" and sentence.tag(at) in ("MD", "VBD", "VBZ", "VBP")


def _opposites(sentence: TaggedSentence) -> Iterator[str]:
    words = lexicon()
    for at, word in enumerate(sentence.words):
        if word.tag not in ("JJ", "RB") or word.lower in _DETERMINING or word.lower not in words.lemmas(word.lower):
            continue
        pos = part(word.tag)
        for other in sorted(words.opposites(word.lower, pos)):
            if other.isalpha() and words.senses(other).get(pos, 0) > 0:
                yield sentence.exchanged(at, other)
