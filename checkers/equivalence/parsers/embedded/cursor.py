"""A place in a sentence's chunks: looking at what comes and taking it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from checkers.equivalence.parsers.embedded.chunks import Chunk, Part
from checkers.equivalence.parsers.embedded.words import FINITE, Word, has_tag, is_of_saying

DEEPEST = 24
"""Phrases within phrases; what goes deeper is left flat."""
FAR = 14
"""Chunks that are looked ahead: what bounds the time of a long sentence."""
ENDS = frozenset({".", ":", ")", ""})
"""Kinds of chunks that no phrase goes past; the last one is the end of the text."""

Role = Literal["subject", "object", "inner"]
"""Of a noun phrase: before its verb, behind it, or behind a preposition."""


class Cursor(ABC):
    """Reads chunks from left to right; each rule of the grammar takes one at least, so that it comes to an end.

    The abstract methods are the rules that call each other across modules. `depth` counts phrases within phrases;
    `commas` says whether what stands behind a comma may belong to the phrase.
    """

    def __init__(self, words: Sequence[Word], chunks: Sequence[Chunk]) -> None:
        self._words = words
        self._chunks = chunks
        self._at = 0
        self.waiting = 0
        """Subjects under construction, the verbs of which are still to come."""

    @abstractmethod
    def simple(self, depth: int, *, commas: bool = False) -> Part:
        """A clause: a subject, what stands before it, and a verb phrase, as far as they are there."""

    @abstractmethod
    def clause_within(self, depth: int, *, commas: bool = False) -> Part:
        """A clause in another, and one joined to it."""

    @abstractmethod
    def verb_phrase(self, depth: int, *, commas: bool, opening: bool = False) -> Part:
        """A verb with its complements; `opening` where it stands before the subject of a clause, or is it."""

    @abstractmethod
    def noun_phrase(self, depth: int, role: Role) -> Part:
        """A noun phrase with what follows its head."""

    @abstractmethod
    def prepositional(self, depth: int) -> Part:
        """A preposition with its noun phrase, or a conjunction with its clause."""

    @abstractmethod
    def relative(self, depth: int) -> Part:
        """A relative clause, or an indirect question."""

    @abstractmethod
    def brackets(self, depth: int) -> Part:
        """What stands in brackets."""

    @abstractmethod
    def phrase(self, depth: int) -> Part | int:
        """Whatever begins here, verbs apart."""

    def kind(self, offset: int = 0) -> str:
        """Of the chunk at so many places from here; empty past the last."""
        place = self._at + offset
        return self._chunks[place].kind if place < len(self._chunks) else ""

    def head(self, offset: int = 0) -> Word:
        """The head word of the chunk at so many places from here."""
        return self._words[self._chunks[self._at + offset].head]

    def take(self) -> Part | int:
        """The chunk here; the place moves behind it."""
        part = self._chunks[self._at].part
        self._at += 1
        return part

    def is_behind_comma(self) -> bool:
        """Whether a comma was taken last."""
        return self._at > 0 and self._chunks[self._at - 1].kind == ","

    def is_finite(self, offset: int = 0) -> bool:
        """Whether a finite verb stands there."""
        return self.kind(offset) == "V" and self.head(offset).tag in FINITE

    def is_relative(self, offset: int = 0) -> bool:
        """Whether a relative pronoun stands there."""
        return self.kind(offset) == "W" and self.head(offset).tag in {"WDT", "WP", "WP$"}

    def verb_comes(self, offset: int = 0, *, certain: bool = True) -> bool:
        """Whether a noun phrase stands there, and behind it a finite verb of its own.

        Where it is not `certain`, a past tense that may be a participle is taken for one.
        """
        if self.kind(offset) != "NP":
            return False
        place = offset + 1
        while place < offset + FAR:
            kind = self.kind(place)
            if kind in {"P", "CC"} and self.kind(place + 1) == "NP":
                place += 2
            elif kind == "ADVP":
                place += 1
            else:
                return self.is_finite(place) and (certain or not self.may_be_participle(place))
        return False

    def may_be_participle(self, offset: int = 0) -> bool:
        """Whether a past tense there may be a participle as well, and a preposition speaks for it (firms based in)."""
        head = self.head(offset)
        return head.tag == "VBD" and self.kind(offset + 1) == "P" and has_tag(head, "VBN") and not is_of_saying(head)

    def goes_on(self, offset: int, *, past: bool = True) -> bool:
        """Whether there is a finite verb from there on; `past` also behind commas and the like."""
        for place in range(offset, offset + 2 * FAR):
            if self.is_finite(place):
                return True
            if self.kind(place) in ENDS or (not past and self.kind(place) in {",", "CC", "W"}):
                return False
        return False
