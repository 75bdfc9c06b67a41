"""Verb phrases: auxiliaries, complements, what is joined to them."""

from __future__ import annotations

from checkers.equivalence.parsers.embedded.chunks import Part, is_clausal, may_be_clausal
from checkers.equivalence.parsers.embedded.cursor import DEEPEST, ENDS, Cursor
from checkers.equivalence.parsers.embedded.words import DO, FINITE, Word, is_auxiliary, is_be, is_of_saying

_OUTERMOST = 2
"""Depth of the verb phrase that sayings behind a comma belong to: he said that ..., adding that ..."""


class VerbPhrases(Cursor):
    """The rules for verb phrases."""

    def verb_phrase(self, depth: int, *, commas: bool, opening: bool = False) -> Part:
        """A verb with its complements, an auxiliary with its verb phrase; and those that are joined to it."""
        first = self.head()
        found: list[Part | int] = [self.take()]
        if depth > DEEPEST:
            return Part("VP", found)
        adverbs = 0
        while self.kind(adverbs) == "ADVP":
            adverbs += 1
        if self.kind(adverbs) == "V" and _governs(first, self.head(adverbs)):
            found.extend(self.take() for _ in range(adverbs))
            found.append(self.verb_phrase(depth + 1, commas=commas, opening=opening))
        else:
            self._complements(found, first, depth + 1, commas=commas, opening=opening)
        return self._joined(Part("VP", found), first, depth, commas=commas)

    def _joined(self, part: Part, head: Word, depth: int, *, commas: bool) -> Part:
        while True:
            marks = 1 if self.kind() == "," and commas else 0
            if self.kind(marks) != "CC":
                return part
            before = marks + 1 + (self.kind(marks + 1) == "ADVP")
            if self.kind(before) not in {"V", "TO"} or not _alike(head, self.head(before)):
                return part
            joints = [self.take() for _ in range(before)]
            part = Part("VP", [part, *joints, self.verb_phrase(depth + 1, commas=commas)])

    def _complements(self, found: list[Part | int], verb: Word, depth: int, *, commas: bool, opening: bool) -> None:
        while True:
            kind = self.kind()
            if kind == "NP" and self.is_behind_comma() and self.verb_comes():
                return
            if kind == "NP" and self._is_said(verb, opening=opening):
                found.append(Part("SBAR", [self.clause_within(depth, commas=commas)]))
            elif kind == "NP":
                found.append(self.noun_phrase(depth, "object"))
            elif kind == "P" and self._is_that():
                found.append(Part("SBAR", [self.take(), self.clause_within(depth, commas=commas)]))
            elif kind in {"P", "ADVP", "ADJP", "W", "(", "RP", "X"}:
                found.append(self.phrase(depth))
            elif kind == "TO":
                found.append(Part("S", [self.verb_phrase(depth, commas=commas)]))
            elif kind == "V" and self.head().tag in {"VBG", "VBN", "VB"}:
                found.append(Part("S", [self.verb_phrase(depth, commas=False)]))
            elif kind == "," and commas and self._is_adjunct(depth):
                found.append(self.take())
            else:
                return

    def _is_said(self, verb: Word, *, opening: bool) -> bool:
        """Whether the noun phrase here is the subject of a clause that the verb has as its object."""
        says = is_of_saying(verb)
        return self.verb_comes(certain=says) and (says or not (opening or self.waiting))

    def _is_that(self) -> bool:
        """Whether a clause of what is said or thought begins."""
        return self.head().lower in {"that", "whether", "if"} and self.kind(1) not in ENDS | {","}

    def _is_adjunct(self, depth: int) -> bool:
        """Whether what stands behind the comma here is more of the verb phrase."""
        kind = self.kind(1)
        if kind == "V":
            head = self.head(1)
            if head.tag == "VBG":
                return depth <= _OUTERMOST + 1 or not is_of_saying(head)
            # A participle has no object of its own: "..., said the minister" is no adjunct.
            return head.tag == "VBN" and self.kind(2) != "NP"
        if kind == "P":
            return is_clausal(self.head(1)) or may_be_clausal(self.head(1)) or not self.goes_on(2)
        return kind in {"W", "TO"} or (kind == "ADVP" and not self.goes_on(2))


def _governs(auxiliary: Word, verb: Word) -> bool:
    """Whether the one is an auxiliary of the other; participles and past tenses look alike."""
    if auxiliary.tag == "TO":
        return True
    if not is_auxiliary(auxiliary):
        return False
    if is_be(auxiliary):
        return verb.tag in {"VBN", "VBG", "VBD"}
    if auxiliary.tag == "MD" or auxiliary.lower in DO:
        return verb.tag in {"VB", "VBP", "VBN", "VBD"}
    return verb.tag in {"VBN", "VBD"}


def _alike(one: Word, other: Word) -> bool:
    """Whether two verbs are of one form, as far as tags tell."""
    if one.tag in FINITE and other.tag in FINITE:
        return True
    return any({one.tag, other.tag} <= forms for forms in _FORMS)


_FORMS = (frozenset({"VB", "VBP", "TO"}), frozenset({"VBD", "VBN"}), frozenset({"VBG"}))
