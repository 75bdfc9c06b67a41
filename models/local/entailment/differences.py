"""The differences between a hypothesis and its premise: words without a counterpart, words in other places.

A place is what governs: the content word before with the words of grammar in between ("lives in _"), or the one behind
("_ was born"). A rewording gives its words new places; an exchange puts one into the place that another one has in the
other text, word for word.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from models.local.encoded_text import Numbers
from models.local.entailment.sides import Block, Side
from models.text.closed_class import PRONOUNS, changes_sense, clash
from models.text.opposites import opposed

Kind = Literal["substitution", "addition", "figure", "opposite", "order", "exchange", "negation", "grammar", "pronoun"]

ALIKE = 0.5
"""Likeness from which a word is a counterpart."""

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
        words = (
            hypothesis.surfaces[exchange.taker],
            premise.surfaces[premise.keys.index(hypothesis.keys[exchange.owner])],
        )
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
            if self._hypothesis.content[i] and not (turned and i in self._opposites):
                yield from self._content(i)
        yield from self._grammar()
        yield from self._pronouns()
        if turned and not self._opposites:
            yield self._negation()

    def _content(self, i: int) -> Iterator[Difference]:
        likes = self._like[i]
        inside = float(likes[self._free].max()) if self._free else 0.0
        closest = float(likes.max())
        word, there = self._hypothesis.surfaces[i], self._in_place(i)
        if closest >= 1.0:
            if inside < ALIKE:
                yield Difference("order", word, there, 1.0, self._framing)
        elif i in self._opposites:
            yield Difference("opposite", word, self._premise.surfaces[self._opposites[i]], 1.0, self._framing)
        elif self._hypothesis.figure[i]:
            if inside < ALIKE:
                yield Difference("figure", word, there, 1.0, self._framing)
        else:
            # In a frame only what stands in the place counts; elsewhere whatever comes close may be what is meant.
            size = 1.0 - (self._framing * inside + (1.0 - self._framing) * closest)
            yield Difference("substitution" if self._free else "addition", word, there, size, self._framing)

    def _in_place(self, i: int) -> str:
        """The word of the premise that stands in the place of the hypothesis's."""
        figure = self._hypothesis.figure[i]
        order = {j: (bool(self._premise.figure[j] == figure), float(self._like[i, j]), -j) for j in self._beside}
        return self._premise.surfaces[max(order, key=order.__getitem__)] if order else ""

    def _grammar(self) -> Iterator[Difference]:
        """Words of grammar that vary what is said: "before" for "after", "some" for "all"."""
        said = [self._hypothesis.lower[i] for i in self._block.hypothesis if not self._hypothesis.content[i]]
        true = [self._premise.lower[j] for j in self._block.premise if not self._premise.content[j]]
        for one in said:
            if one in true or not changes_sense(one):
                continue
            other = next((other for other in true if clash(one, other)), "")
            yield Difference("grammar", one, other, 1.0 if other else _UNMATCHED, self._framing)

    def _pronouns(self) -> Iterator[Difference]:
        """Where the premise names with a word of its own what the hypothesis has a pronoun for: "Ann", "she"."""
        here = self._block.hypothesis
        if not here or any(self._hypothesis.content[i] for i in here):
            return
        pronoun = next((self._hypothesis.lower[i] for i in here if self._hypothesis.lower[i] in PRONOUNS), "")
        if self._free and pronoun:
            yield Difference("pronoun", pronoun, self._premise.surfaces[self._free[0]], 1.0, self._framing)

    def _turned(self) -> bool:
        """True if one side denies what the other does not, but for what the premise alone goes on to say here."""
        said = sum(self._hypothesis.negation[i] for i in self._block.hypothesis)
        true = sum(self._premise.negation[j] for j in self._block.premise)
        return bool((said - true) % 2) and not (not self._block.hypothesis and self._free)

    def _negation(self) -> Difference:
        said = next((self._hypothesis.surfaces[i] for i in self._block.hypothesis if self._hypothesis.negation[i]), "")
        true = next((self._premise.surfaces[j] for j in self._block.premise if self._premise.negation[j]), "")
        # Rewordings keep what is denied: a negation says more of itself than other words.
        return Difference("negation", said, true, 1.0, self._framing**0.5)


_COORDINATORS = frozenset({"and", "or", "nor"})
"""Between these the order of words says nothing."""

_AUXILIARIES = frozenset("is are was were be been being am has have had will would can could may might must".split())

_LONGEST = 3
"""Words of grammar between two content words that still stand beside each other."""

Place = tuple[str, ...]


class TradedWords(NamedTuple):
    """Positions in the hypothesis of a word and of the word whose place it has taken."""

    taker: int
    owner: int
    mutual: bool
    """The owner has the taker's place in turn."""


def exchanges(hypothesis: Side, premise: Side) -> Iterator[TradedWords]:
    """Each word that both texts have and that stands where the premise has another one that both have."""
    at = {hypothesis.keys[i]: i for i in reversed(np.flatnonzero(hypothesis.content).tolist())}
    shared = at.keys() & {premise.keys[i] for i in np.flatnonzero(premise.content)}
    said, true = _places(hypothesis), _places(premise)
    taken: dict[tuple[str, str], None] = {}
    for place, takers in said.items():
        owners = true.get(place)
        if owners and not takers & owners:
            taken.update(dict.fromkeys((t, o) for t in takers & shared for o in owners & shared))
    for taker, owner in sorted(taken):
        yield TradedWords(at[taker], at[owner], (owner, taker) in taken)


def _places(text: Side) -> dict[Place, set[str]]:
    """For each place what fills it: by the word that governs it, and by that and the one beyond."""
    places: dict[Place, set[str]] = {}
    content = np.flatnonzero(text.content).tolist()
    keys = ["", *(text.keys[i] for i in content), ""]
    for k, (left, right) in enumerate(itertools.pairwise(content), start=1):
        between = text.lower[left + 1 : right]
        broken = text.breaks[left + 1 : right + 1].any()
        if broken or len(between) > _LONGEST or _COORDINATORS & set(between):
            continue
        after = ("after", keys[k], *between)
        for place in (after, ("beyond", keys[k - 1], *after)):
            places.setdefault(place, set()).add(keys[k + 1])
        if _AUXILIARIES.issuperset(between):
            before = ("before", keys[k + 1], *between)
            for place in (before, ("beyond", keys[k + 2], *before)):
                places.setdefault(place, set()).add(keys[k])
    return places
