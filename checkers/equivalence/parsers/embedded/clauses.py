"""Clauses and sentences, and the small phrases in them."""

from __future__ import annotations

from checkers.equivalence.parsers.embedded.chunks import Part, is_clausal, may_be_clausal
from checkers.equivalence.parsers.embedded.cursor import DEEPEST, ENDS, FAR, Cursor
from checkers.equivalence.parsers.embedded.words import is_of_saying, is_period


class Clauses(Cursor):
    """The rules for clauses."""

    def text(self) -> Part:
        """All that there is."""
        found: list[Part | int] = []
        while self.kind():
            found.append(self._sentence())
            while self.kind() in ENDS - {""} | {","}:
                found.append(self.take())
        first = found[0]
        if isinstance(first, Part) and all(isinstance(one, int) for one in found[1:]):
            return Part(first.label, [*first.children, *found[1:]]) if len(found) > 1 else first
        return Part("S", found)

    def _sentence(self) -> Part:
        """A clause, with those that are joined to it."""
        first = self.simple(0, commas=True)
        while True:
            marks = 0
            while self.kind(marks) in {",", ":"}:
                marks += 1
            kind = self.kind(marks)
            if kind == "CC" and self.kind(marks + 1) not in ENDS:
                joints = [self.take() for _ in range(marks + 1)]
                first = Part("S", [first, *joints, self.simple(0, commas=True)])
            elif not marks or kind in ENDS or kind == "CC":
                return first
            else:
                joints = [self.take() for _ in range(marks)]
                first = self._attributed(first, joints)

    def _attributed(self, first: Part, joints: list[Part | int]) -> Part:
        """With who said it, behind it; or with the clause that follows."""
        if self.is_finite() and self.kind(1) == "NP":
            verb = Part("VP", [self.take()])
            return Part("SINV", [first, *joints, verb, self.noun_phrase(1, "object")])
        says = self._says()
        second = self.simple(0, commas=True)
        return Part("S", [first, *joints, *(second.children if says and second.label == "S" else [second])])

    def _says(self) -> bool:
        for place in range(FAR):
            if self.is_finite(place):
                return is_of_saying(self.head(place))
            if self.kind(place) in ENDS:
                return False
        return False

    def simple(self, depth: int, *, commas: bool = False) -> Part:
        """A clause: a subject, what stands before it, and a verb phrase, as far as they are there."""
        found: list[Part | int] = []
        subject = False
        while True:
            kind = self.kind()
            if kind in {"V", "TO"}:
                # A participle or an infinitive before the subject, or as the subject.
                if not subject and not self.is_finite() and self.goes_on(1) and depth <= DEEPEST:
                    found.append(Part("S", [self.verb_phrase(depth + 1, commas=False, opening=True)]))
                    continue
                found.append(self.verb_phrase(depth + 1, commas=commas))
                break
            if kind in ENDS or (kind == "CC" and found):
                break
            if kind == ",":
                if not found or (subject and depth) or not self.goes_on(1):
                    break
                found.append(self.take())
            elif kind == "NP" and depth <= DEEPEST:
                is_time = is_period(self.head())
                found.append(self.noun_phrase(depth + 1, "subject"))
                # Last year the company ...
                subject = subject or not (is_time and self.kind() in {"NP", ","})
            else:
                found.append(self.phrase(depth + 1))
        if not found:
            found.append(self.take())
        only = found[0] if len(found) == 1 else None
        return only if isinstance(only, Part) and only.label != "VP" else Part("S", found)

    def clause_within(self, depth: int, *, commas: bool = False) -> Part:
        """A clause in another, and one joined to it."""
        part = self.simple(depth, commas=commas)
        if self.kind() == "CC" and self.verb_comes(1):
            part = Part("S", [part, self.take(), self.simple(depth, commas=commas)])
        return part

    def phrase(self, depth: int) -> Part | int:
        """Whatever begins here, verbs apart."""
        kind = self.kind()
        if depth <= DEEPEST:
            if kind == "NP":
                return self.noun_phrase(depth, "object")
            if kind == "P":
                return self.prepositional(depth)
            if kind == "W":
                return self.relative(depth)
            if kind == "(":
                return self.brackets(depth)
            if kind == "ADJP":
                return self._adjective(depth)
        return self.take()

    def prepositional(self, depth: int) -> Part:
        """A preposition with its noun phrase, or a conjunction with its clause."""
        word = self.head()
        first = self.take()
        compound = isinstance(first, Part)
        taken: list[Part | int] = first.children if isinstance(first, Part) else [first]
        kind = self.kind()
        if depth > DEEPEST or kind in ENDS:
            return Part("PP", taken)
        clausal = is_clausal(word) or word.lower == "that" or (may_be_clausal(word) and self.verb_comes())
        if clausal and not compound:
            return Part("SBAR", taken if kind == "," else [*taken, self.simple(depth + 1)])
        if kind == "NP":
            return Part("PP", [*taken, self.noun_phrase(depth + 1, "inner")])
        if kind == "V" and self.head().tag in {"VBG", "VBN"}:
            return Part("PP", [*taken, Part("S", [self.verb_phrase(depth + 1, commas=False)])])
        return Part("PP", [*taken, self.phrase(depth + 1)] if kind in {"P", "W", "ADJP", "ADVP"} else taken)

    def relative(self, depth: int) -> Part:
        """A relative clause, or an indirect question."""
        word = self.take()
        return Part("SBAR", [word] if self.kind() in ENDS | {","} else [word, self.clause_within(depth + 1)])

    def brackets(self, depth: int) -> Part:
        """What stands in brackets."""
        found = [self.take()]
        while self.kind() not in {"", ")", "."}:
            is_verb = self.kind() in {"V", "TO"} and depth <= DEEPEST
            found.append(self.verb_phrase(depth + 1, commas=False) if is_verb else self.phrase(depth + 1))
        if self.kind() == ")":
            found.append(self.take())
        return Part("PRN", found)

    def _adjective(self, depth: int) -> Part | int:
        part = self.take()
        if self.kind() == "CC" and self.kind(1) == "ADJP":
            part = Part("ADJP", [part, self.take(), self.take()])
        if self.kind() == "P" and self.kind(1) == "NP" and not may_be_clausal(self.head()):
            return Part("ADJP", [part, self.prepositional(depth + 1)])
        if self.kind() == "TO":
            return Part("ADJP", [part, Part("S", [self.verb_phrase(depth + 1, commas=False)])])
        return part
