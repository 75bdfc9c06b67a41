"""What the hypothesis says that the premise does not: words without a counterpart, words in other places."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from checkers.oracle.local.entailment.likeness import Numbers
from checkers.oracle.local.entailment.places import company_kept, exchanges
from checkers.oracle.local.entailment.script import Block
from checkers.oracle.local.entailment.side import Side
from checkers.oracle.local.faults.polarity import NEGATIVE
from checkers.text.closed_class import PRONOUNS, changes_sense, clash
from checkers.text.lexicon import lexicon
from checkers.text.opposites import opposed

_ASKED_FOR = {
    "why": {"reason", "cause"},
    "when": {"time", "date"},
    "where": {"place", "location"},
    "who": {"person"},
    "how": {"way", "method"},
}

Kind = Literal[
    "substitution", "addition", "figure", "opposite", "order", "exchange", "negation", "grammar", "pronoun", "left_open"
]

ALIKE = 0.5
"""Likeness from which a word is a counterpart."""

SLIGHT = 0.5
"""What an adverb counts beside other words, and what a pronoun of the premise may stand for."""

_UNMATCHED = 0.3
"""Size of a word of grammar that says something and has no counterpart."""

_WIDEST = 12
"""Words of a block in which one may stand in another's place."""

_TAKEN = 0.4
"""Size of an exchange of which only one half shows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the two texts do not share."""

    kind: Kind
    said: str
    """The hypothesis's words; empty where it lacks something."""
    instead: str
    """The premise's words in that place; empty for none."""
    size: float
    """0 to 1: how far from a counterpart."""
    framing: float
    """0 to 1: how far all around it is repeated."""

    @property
    def strength(self) -> float:
        """0 to 1."""
        return self.size * self.framing


def differences(hypothesis: Side, premise: Side, like: Numbers, found: list[Block]) -> Iterator[Difference]:
    """Every difference, in the order of the hypothesis."""
    moved: list[Difference] = []
    for block in found:
        for one in _Stretch(hypothesis, premise, like, block).differences():
            yield one
            if one.kind == "order":
                moved.append(one)
    yield from _traded(moved)
    for exchange in exchanges(hypothesis, premise):
        words = hypothesis.surfaces[exchange.taker], hypothesis.surfaces[exchange.owner]
        # Words that traded places did so however the rest is put.
        yield Difference("exchange", *words, 1.0 if exchange.mutual else _TAKEN, 1.0)


def _traded(moved: list[Difference]) -> Iterator[Difference]:
    """Words of which each stands where the script has the other."""
    for one, other in itertools.combinations(moved, 2):
        if (one.said.lower(), one.instead.lower()) == (other.instead.lower(), other.said.lower()):
            yield Difference("exchange", one.said, one.instead, 1.0, min(one.framing, other.framing))


class _Stretch:
    """One block of two texts."""

    def __init__(self, hypothesis: Side, premise: Side, like: Numbers, block: Block) -> None:
        self._hypothesis, self._premise, self._like = hypothesis, premise, like
        self._block, self._framing = block, block.framing
        self._free = [j for j in block.premise if premise.content[j]]
        # What stands in whose place can be told of short stretches only, and comparing all with all would take long.
        self._beside = self._free if max(len(block.hypothesis), len(block.premise)) <= _WIDEST else []
        self._opposites = {
            i: j
            for i in block.hypothesis
            for j in self._beside
            if hypothesis.content[i] and opposed(premise.lower[j], hypothesis.lower[i])
        }

    def differences(self) -> Iterator[Difference]:
        turned = self._turned()
        for i in self._block.hypothesis:
            # What is denied of the opposite says the same: unable, not able.
            if self._hypothesis.content[i] and not (turned and i in self._opposites) and not self._asked(i):
                yield from self._content(i)
        yield from self._grammar()
        yield from self._left_open()
        if turned and not self._opposites:
            yield self._negation()

    def _content(self, i: int) -> Iterator[Difference]:
        likes = self._like[i]
        inside = float(likes[self._free].max()) if self._free else 0.0
        closest = float(likes.max())
        word, there = self._hypothesis.surfaces[i], self._in_place(i)
        if closest >= 1.0:
            same = np.flatnonzero(likes >= 1.0).tolist()
            kept = max(company_kept(self._hypothesis, self._premise, i, j) for j in same)
            if inside < ALIKE and kept < 1.0:
                yield Difference("order", word, there, 1.0 - kept, self._framing)
        elif i in self._opposites:
            yield Difference("opposite", word, self._premise.surfaces[self._opposites[i]], 1.0, self._framing)
        elif self._hypothesis.figure[i]:
            if inside < ALIKE:
                yield Difference("figure", word, there, 1.0, self._framing)
        else:
            # In a frame only what stands in the place counts; elsewhere whatever comes close may be what is meant.
            size = 1.0 - (self._framing * inside + (1.0 - self._framing) * closest)
            if manner(self._hypothesis.lower[i]) or (not self._free and self._has_pronoun()):
                size *= SLIGHT
            yield Difference("substitution" if self._free else "addition", word, there, size, self._framing)

    def _asked(self, i: int) -> bool:
        return any(asks_for(self._premise.lower[j], self._hypothesis.lower[i]) for j in self._block.premise)

    def _in_place(self, i: int) -> str:
        """The word of the premise that stands in the place of the hypothesis's."""
        figure = self._hypothesis.figure[i]
        order = {j: (bool(self._premise.figure[j] == figure), float(self._like[i, j]), -j) for j in self._beside}
        return self._premise.surfaces[max(order, key=order.__getitem__)] if order else ""

    def _has_pronoun(self) -> bool:
        return any(self._premise.lower[j] in PRONOUNS for j in self._block.premise)

    def _grammar(self) -> Iterator[Difference]:
        """Words of grammar that vary what is said: "before" for "after", "some" for "all"."""
        said = [self._hypothesis.lower[i] for i in self._block.hypothesis if not self._hypothesis.content[i]]
        true = [self._premise.lower[j] for j in self._block.premise if not self._premise.content[j]]
        for one in said:
            if one in true or not changes_sense(one):
                continue
            other = next((other for other in true if clash(one, other)), "")
            yield Difference("grammar", one, other, 1.0 if other else _UNMATCHED, self._framing)

    def _left_open(self) -> Iterator[Difference]:
        """Where the premise says with a word of its own what the hypothesis has words of grammar for: "Ann", "she"."""
        here = self._block.hypothesis
        if not here or any(self._hypothesis.content[i] for i in here):
            return
        said = [self._hypothesis.lower[i] for i in here]
        for j in self._free:
            if not any(asks_for(question, self._premise.lower[j]) for question in said):
                pronoun = next((word for word in said if word in PRONOUNS), "")
                kind: Kind = "pronoun" if pronoun else "left_open"
                yield Difference(kind, pronoun or said[0], self._premise.surfaces[j], 1.0, self._framing)
                return

    def _turned(self) -> bool:
        """Whether one side denies what the other does not; "failed to win" denies as "did not win" does."""
        said = sum(self._hypothesis.negation[i] for i in self._block.hypothesis)
        true = sum(self._premise.negation[j] for j in self._block.premise)
        if (said - true) % 2 == 0 or self._only_more():
            return False
        negative = [
            sum(self._hypothesis.keys[i] in NEGATIVE for i in self._block.hypothesis if i not in self._opposites),
            sum(self._premise.keys[j] in NEGATIVE for j in self._free if j not in self._opposites.values()),
        ]
        return negative[0] == negative[1]

    def _only_more(self) -> bool:
        """Whether the premise goes on to say something else here, which it may deny."""
        return not self._block.hypothesis and not all(manner(self._premise.lower[j]) for j in self._free)

    def _negation(self) -> Difference:
        said = next((self._hypothesis.surfaces[i] for i in self._block.hypothesis if self._hypothesis.negation[i]), "")
        true = next((self._premise.surfaces[j] for j in self._block.premise if self._premise.negation[j]), "")
        # Rewordings keep what is denied: a negation says more of itself than other words.
        return Difference("negation", said, true, 1.0, self._framing**0.5)


def asks_for(question: str, word: str) -> bool:
    """True if a word in lower case says what a question word asks for: why, the reason."""
    return not lexicon().lemmas(word, "n").isdisjoint(_ASKED_FOR.get(question, ()))


@lru_cache(maxsize=65536)
def manner(word: str) -> bool:
    """Whether a word is an adverb before all: it says how, and mostly little (well, fairly, recently)."""
    counts = lexicon().senses(word)
    return "r" in counts and counts["r"] == max(counts.values())
