"""Noun phrases: what follows a head, lists, appositions."""

from __future__ import annotations

from checkers.equivalence.parsers.embedded.chunks import Part, is_clausal, may_be_clausal
from checkers.equivalence.parsers.embedded.cursor import FAR, Cursor, Role
from checkers.equivalence.parsers.embedded.words import Word

_OF_OBJECTS = frozenset("of such per for about between among amongst".split())
"""Prepositions that more often belong to the object before them than to its verb."""
_OF_INNER = _OF_OBJECTS | frozenset("in over near with within outside inside".split())
"""The same behind a noun that has a preposition before it already."""


_AFTER_PREPOSITION = frozenset({"NP", "W", "V", "P"})


class NounPhrases(Cursor):
    """The rules for noun phrases."""

    def noun_phrase(self, depth: int, role: Role) -> Part:
        """A noun phrase with what follows its head, those joined to it, and appositions."""
        self.waiting += role == "subject"
        part = self._whole(depth, role)
        self.waiting -= role == "subject"
        return part

    def _whole(self, depth: int, role: Role) -> Part:
        part = self._with_modifiers(depth, role)
        joined: list[Part | int] = [part]
        while True:
            marks = 1 if self.kind() == "," else 0
            if self.kind(marks) == "CC" and self.kind(marks + 1) == "NP":
                if self.verb_comes(marks + 1) and (role != "subject" or marks):
                    break
                joined.extend(self.take() for _ in range(marks + 1))
                joined.append(self._with_modifiers(depth + 1, role))
                break
            if not marks or not self._is_list(1, role):
                break
            joined.extend((self.take(), self._with_modifiers(depth + 1, role)))
        return self._apposed(Part("NP", _shared(joined)) if len(joined) > 1 else part, depth, role)

    def _with_modifiers(self, depth: int, role: Role) -> Part:
        head = self.head()
        base = self.take()
        part = base if isinstance(base, Part) else Part("NP", [base])
        while True:
            modifier = self._modifier(depth + 1, head, role)
            if modifier is None:
                return part
            part = Part("NP", [part, modifier])

    def _modifier(self, depth: int, head: Word, role: Role) -> Part | None:
        """What follows here and belongs to the noun before; None where nothing does."""
        kind = self.kind()
        if self.is_relative() or (kind == "W" and self.head().lower == "where"):
            return self.relative(depth)
        if kind == "P":
            return self._preposition(depth, head, role)
        if kind == "V":
            return self.verb_phrase(depth, commas=False) if head.tag != "PRP" and self._is_reduced(role) else None
        if kind == "TO":
            return Part("S", [self.verb_phrase(depth, commas=False)]) if role == "subject" else None
        if kind == "NP" and role != "subject" and head.tag != "PRP" and self.head().tag == "PRP" and self.is_finite(1):
            # The book he wrote.
            return Part("SBAR", [self.simple(depth)])
        return self.brackets(depth) if kind == "(" else None

    def _preposition(self, depth: int, head: Word, role: Role) -> Part | None:
        if self.head().lower == "that" and self.is_finite(1):
            return self.relative(depth)
        return self.prepositional(depth) if self.kind(1) in _AFTER_PREPOSITION and self._takes(head, role) else None

    def _takes(self, head: Word, role: Role) -> bool:
        """Whether a noun takes the preposition that follows it, and not the verb before."""
        word = self.head()
        if word.lower in {"of", "such"}:
            return True
        if head.tag == "PRP" or is_clausal(word) or (may_be_clausal(word) and self.verb_comes(1)):
            return False
        if role == "subject":
            return self.goes_on(1)
        return word.lower in (_OF_OBJECTS if role == "object" else _OF_INNER)

    def _is_reduced(self, role: Role) -> bool:
        """Whether a participle here describes the noun before it."""
        tag = self.head().tag
        if tag == "VBN":
            return role != "subject" or self.goes_on(1, past=False)
        if tag == "VBD" and self.kind(1) == "P":
            return self.head(1).lower == "by" or (role == "object" and self.may_be_participle())
        return tag == "VBG"

    def _is_list(self, offset: int, role: Role) -> bool:
        """Whether noun phrases follow, the last one behind a conjunction."""
        place = offset
        while place < offset + 2 * FAR and self.kind(place) == "NP":
            place += 1
            while self.kind(place) == "P" and self.kind(place + 1) == "NP" and not may_be_clausal(self.head(place)):
                place += 2
            if self.kind(place) == ",":
                place += 1
            if self.kind(place) == "CC":
                # Where a subject is read, the verb behind the last one is the verb of them all.
                return self.kind(place + 1) == "NP" and (role == "subject" or not self.verb_comes(place + 1))
        return False

    def _apposed(self, part: Part, depth: int, role: Role) -> Part:
        """With what stands behind it between commas."""
        found: list[Part | int] = [part]
        while True:
            # The comma that closes one opens the next.
            opened = len(found) > 1 and self.is_behind_comma()
            if not opened and self.kind() != ",":
                break
            at = 0 if opened else 1
            is_participle = self.kind(at) == "V" and self.head(at).tag in {"VBG", "VBN"}
            is_noun = self.kind(at) == "NP" and not self.verb_comes(at) and self._closes(at)
            if not (self.is_relative(at) or is_noun or (role == "subject" and is_participle and self.goes_on(at + 1))):
                break
            if not opened:
                found.append(self.take())
            if is_noun:
                found.append(self._with_modifiers(depth + 1, "inner"))
            elif is_participle:
                found.append(self.verb_phrase(depth + 1, commas=False))
            else:
                found.append(self.relative(depth + 1))
            if self.kind() == ",":
                found.append(self.take())
        return Part("NP", found) if len(found) > 1 else part

    def _closes(self, offset: int) -> bool:
        """Whether the noun phrase there ends at a comma or with the sentence."""
        place = offset + 1
        while place < offset + FAR and self.kind(place) == "P" and self.kind(place + 1) == "NP":
            place += 2
        return self.kind(place) in {",", ".", ""}


def _shared(joined: list[Part | int]) -> list[Part | int]:
    """Her mother and brother: a determiner that stands for both makes them one flat phrase."""
    first, last = joined[0], joined[-1]
    if len(joined) != 3 or not isinstance(first, Part) or not isinstance(last, Part):
        return joined
    bare = len(last.children) == 1 and isinstance(last.children[0], int)
    if not bare or len(first.children) != 2 or not all(isinstance(child, int) for child in first.children):
        return joined
    return [*first.children, joined[1], *last.children]
