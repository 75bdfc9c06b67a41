"""Noun phrases up to their head: determiners, numbers, adjectives, possessors, nouns."""

from __future__ import annotations

from collections.abc import Sequence

from checkers.equivalence.parsers.embedded.chunks import Chunk, Part, lower_at, tag_at
from checkers.equivalence.parsers.embedded.words import (
    ADJECTIVES,
    ADVERBS,
    NOUNS,
    PARTICIPLES,
    Word,
    is_calendar,
    is_period,
)

_BEFORE_DETERMINER = frozenset("all both half such quite".split())
_FOCUS = frozenset("only just even almost nearly approximately about roughly".split())
_ABOUT = _FOCUS | frozenset("around over under some".split())
_LESS = frozenset("more less fewer".split())
_LIMITS = frozenset({("at", "least"), ("at", "most"), ("up", "to")})
_FAR = 8
"""Words from a modifier to its noun."""
_YEAR_DIGITS = 4


def noun_chunk(words: Sequence[Word], at: int) -> tuple[Chunk, int] | None:
    """The noun phrase that begins here, and the place behind it."""
    if words[at].tag in {"PRP", "EX"}:
        return Chunk("NP", Part("NP", [at]), at), at + 1
    reading = _Reading(words, at)
    reading.determiners()
    reading.modified_noun()
    while reading.head is not None and tag_at(words, reading.end) == "POS" and _may_be_noun(words, reading.end + 1):
        reading.possessor()
        reading.modified_noun()
    if reading.head is None:
        reading.pronoun()
    if reading.head is None:
        return None
    reading.rest_of_date()
    return Chunk("NP", Part("NP", reading.children), reading.head), reading.end


class _Reading:
    """A noun phrase as far as it was read: up to `end`, the place behind the last word that is kept."""

    def __init__(self, words: Sequence[Word], at: int) -> None:
        self._words = words
        self._begun = at
        self._determined = False
        self._is_sum = False
        self.children: list[Part | int] = []
        self.end = at
        self.head: int | None = None

    def determiners(self) -> None:
        """Only the, all their, such a."""
        words = self._words
        if lower_at(words, self.end) in _FOCUS and tag_at(words, self.end + 1) in {"DT", "PRP$"}:
            self._keep()
        lower, tag = lower_at(words, self.end), tag_at(words, self.end)
        if lower in _BEFORE_DETERMINER and tag_at(words, self.end + 1) in {"DT", "PRP$"}:
            self._keep()
            tag = tag_at(words, self.end)
        if tag in {"DT", "PDT", "PRP$"}:
            self._keep()
            self._determined = tag != "PDT"

    def modified_noun(self) -> None:
        """Append what stands before a head noun, and the head; nothing where there is none."""
        self.head = None
        first, place = self.end, self.end
        kept = len(self.children)
        while (step := self._step(place, first)) is not None:
            place = step
            if self._heads(place - 1):
                self.head, self.end, kept = place - 1, place, len(self.children)
        del self.children[kept:]

    def possessor(self) -> None:
        """What was read is an owner: its mark, and on."""
        self.children = [Part("NP", [*self.children, self.end])]
        self._determined = True
        self.end += 1

    def pronoun(self) -> None:
        """A determiner may stand for a noun: this, those, all."""
        word = self._words[self._begun]
        if self.end == self._begun + 1 and word.tag == "DT" and word.lower not in {"the", "a", "an", "every"}:
            self.head = self._begun

    def rest_of_date(self) -> None:
        """April 21, 2003: a year behind a comma belongs to the date."""
        words, head = self._words, self.head
        if head is None or words[head].tag != "CD" or tag_at(words, self.end) != ",":
            return
        year = lower_at(words, self.end + 1)
        if head > self._begun and words[head - 1].tag in NOUNS and len(year) == _YEAR_DIGITS and year.isdigit():
            self._keep()
            self._keep()

    def _keep(self) -> None:
        self.children.append(self.end)
        self.end += 1

    def _heads(self, place: int) -> bool:
        """Whether the word there, just appended, may be the head: the poor, where no noun follows."""
        tag = self._words[place].tag
        if tag in ADJECTIVES:
            return self._determined and self.head is None and not _leads_to_noun(self._words, place + 1)
        return tag in NOUNS or tag == "CD"

    def _step(self, place: int, first: int) -> int | None:
        """Append what stands there, if it belongs to the phrase, and tell the place behind it."""
        tag = tag_at(self._words, place)
        if self.head is None or tag == "CD":
            quantity = _quantity(self._words, place)
            if quantity is not None:
                self._is_sum = not self._determined and "$" in {word.tag for word in self._words[place : quantity[1]]}
                self.children.append(quantity[0])
                return quantity[1]
        if tag in NOUNS:
            return None if self._is_time_apart(place) else self._append(place)
        if tag in ADJECTIVES:
            return self._append(place) if self._goes_on(place) else None
        if self.head is not None:
            is_joined = lower_at(self._words, place) == "&" and tag_at(self._words, place + 1) in NOUNS
            return self._append(place) if is_joined else None
        return self._modifier(place, tag, opened=self._determined or place > first, first=first)

    def _modifier(self, place: int, tag: str, *, opened: bool, first: int) -> int | None:
        """Participles, adverbs of adjectives, and what joins adjectives."""
        words = self._words
        after = tag_at(words, place + 1)
        if tag in PARTICIPLES and opened and _leads_to_noun(words, place):
            return self._append(place)
        if not opened or not _leads_to_noun(words, place + 1):
            return None
        if tag in ADVERBS and after in ADJECTIVES | PARTICIPLES:
            self.children.append(Part("ADJP", [place, place + 1]))
            return place + 2
        if place == first or after not in ADJECTIVES or tag not in {",", "CC"}:
            return None
        if tag == ",":
            return self._append(place) if self._determined else None
        # Political and humanitarian efforts.
        self.children[-1] = Part("ADJP", [self.children[-1], place, place + 1])
        return place + 2

    def _goes_on(self, place: int) -> bool:
        """Whether an adjective there is part of the phrase, though a head may be behind us: the U.S. federal court."""
        if self.head is None:
            return True
        is_complete = self._words[self.head].tag in {"NN", "NNS"} or self._is_sum
        return not is_complete and _leads_to_noun(self._words, place)

    def _append(self, place: int) -> int:
        self.children.append(place)
        return place + 1

    def _is_time_apart(self, place: int) -> bool:
        """Whether a day or month stands by itself behind the head: the talks Monday."""
        words = self._words
        if self.head is None or not is_calendar(words[place]) or is_period(words[place - 1]):
            return False
        return tag_at(words, place + 1) not in NOUNS


def _leads_to_noun(words: Sequence[Word], place: int) -> bool:
    """Whether adjectives and the like from here on end in a noun."""
    for offset in range(place, min(place + _FAR, len(words))):
        tag = words[offset].tag
        if tag in NOUNS:
            return True
        if tag in {",", "CC"}:
            if tag_at(words, offset + 1) not in ADJECTIVES | NOUNS | {"VBN"}:
                return False
        elif tag not in ADJECTIVES | ADVERBS | PARTICIPLES | {"CD"}:
            return False
    return False


def _may_be_noun(words: Sequence[Word], place: int) -> bool:
    return tag_at(words, place) in NOUNS | ADJECTIVES | ADVERBS | PARTICIPLES | {"CD"}


def _quantity(words: Sequence[Word], at: int) -> tuple[Part | int, int] | None:
    """A number with what stands around it: more than $20 million."""
    lower, after = lower_at(words, at), lower_at(words, at + 1)
    place = at
    if (lower in _LESS and after == "than") or (lower, after) in _LIMITS:
        place += 2
    elif lower in _ABOUT:
        place += 1
    if tag_at(words, place) == "$":
        place += 1
    if tag_at(words, place) != "CD":
        return None
    place = _past_numbers(words, place)
    if lower_at(words, place) in {"to", "or", "and"} and tag_at(words, place + 1) == "CD":
        place = _past_numbers(words, place + 1)
    return (at if place == at + 1 else Part("QP", list(range(at, place)))), place


def _past_numbers(words: Sequence[Word], place: int) -> int:
    while tag_at(words, place) == "CD":
        place += 1
    return place
