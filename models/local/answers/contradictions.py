"""What keeps a passage from answering a question, however like it is: another case, nothing of the sort asked for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from models.local.alignment import WordPath
from models.local.answers.things import DECISIVE
from models.local.encoded_text import Encoded
from models.local.faults import ClaimFault, faults
from models.text.closed_class import FUNCTION_WORDS
from models.text.lexicon import lexicon
from models.text.negation import NEGATIVE_PREFIXES
from models.text.opposites import OPPOSITE_STEMS
from models.text.questions import Sort
from models.text.words import Word, stem

PLACED = 0.65
"""Likeness from which a word has its counterpart: what says the opposite beside it is said of something else."""

_LIFE = re.compile(r"\([^()]*\d{3,4}[^()]*[-–—][^()]*\d{3,4}[^()]*\)")
_BORN = frozenset("born birth die died dead death".split())
"""Dates of a life in brackets tell of birth and death without the words."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Where the answer is looked for."""

    sentences: range
    """Of the passage."""
    likeness: Mapping[int, float]
    """How far each content word of the question is found, by its position."""


def contradictions(
    question: Encoded, sort: Sort, passage: Encoded, path: WordPath, beside: Beside
) -> Iterator[ClaimFault]:
    """The grave faults, in the order in which a person would name them."""
    yield from _as_of_claims(question, sort, passage, path)
    yield from _opposites(question, sort, passage, beside)
    yield from _bearers(question, passage)


def missing(sort: Sort) -> ClaimFault | None:
    """The fault of a passage without anything of a sort; None where that says little."""
    return ClaimFault("missing", f"it names {DECISIVE[sort]}", 0) if sort in DECISIVE else None


def _as_of_claims(question: Encoded, sort: Sort, passage: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """Figures, days and negations that the passage does not have.

    To a question if something is so the answer may be no, but it must be about the same: there names count, too. A
    passage that answers another question may speak of "she".
    """
    kinds = {"number", "date", *(("name", "other name") if sort == "yes_no" else ("negation",))}
    for fault in faults(question, passage, path, None):
        if fault.kind in kinds:
            reason = fault.reason.replace("the reference", "the passage").replace("the sentence", "the question")
            yield ClaimFault(fault.kind, reason, fault.word)


def _opposites(question: Encoded, sort: Sort, passage: Encoded, beside: Beside) -> Iterator[ClaimFault]:
    """Words of the question for which the passage has the opposite instead."""
    own = {word.surface.lower() for word in question.words}
    everywhere = {word.surface.lower() for word in passage.words}
    there = {
        word.surface.lower()
        for word, sentence in zip(passage.words, passage.owners, strict=True)
        if sentence in beside.sentences and word.surface.lower() not in own
    }
    if _LIFE.search(" ".join(passage.passages)):
        there -= _BORN
    for at, word in enumerate(question.words):
        lower = word.surface.lower()
        is_predicate = sort == "yes_no" and _ends_phrase(question, at)
        if lower in everywhere or beside.likeness.get(at, 0.0) >= PLACED or is_predicate:
            continue
        against = next((other for other in sorted(there) if _opposed(lower, other)), None)
        if against is not None:
            yield ClaimFault("opposite", f"the passage says '{against}' for '{word.surface}'", at)


def _ends_phrase(question: Encoded, at: int) -> bool:
    """True for "open" in "Is it open today?": a passage that says the opposite of it answers no."""
    return at + 1 == len(question.words) or not question.words[at + 1].content


@lru_cache(maxsize=65536)
def _opposed(one: str, other: str) -> bool:
    """Stricter than `opposed` of all texts: what is opposed by way of a synonym is often just another thing."""
    if (stem(one), stem(other)) in OPPOSITE_STEMS:
        return True
    if one in FUNCTION_WORDS or other in FUNCTION_WORDS:
        return False
    known = lexicon()
    if known.lemmas(other) & known.opposites(one) or known.lemmas(one) & known.opposites(other):
        return True
    shorter, longer = sorted((one, other), key=len)
    return any(longer == prefix + shorter for prefix in NEGATIVE_PREFIXES)


def _bearers(question: Encoded, passage: Encoded) -> Iterator[ClaimFault]:
    """Names of which the passage has a part, as a part of another: Ada Brandt, Ole Brandt."""
    there = {word.stem for word in passage.words}
    bearers = {
        word.stem: f"{before.surface} {word.surface}"
        for (before, word), (mine, next_one) in zip(pairwise(passage.words), pairwise(passage.owners), strict=True)
        if mine == next_one and _is_name(before) and _is_name(word) and not lexicon().knows(before.surface)
    }
    for at, (first, last) in enumerate(pairwise(question.words)):
        if at and _is_name(first) and _is_name(last) and first.stem not in there and last.stem in bearers:
            yield ClaimFault("name", f"the passage speaks of '{bearers[last.stem]}'", at)


def _is_name(word: Word) -> bool:
    return word.content and word.surface[0].isupper()
