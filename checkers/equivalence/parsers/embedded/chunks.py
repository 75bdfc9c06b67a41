"""Base phrases and constituents: what the grammar is given, and what it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from checkers.equivalence.parsers.embedded.words import Word


@dataclass(slots=True)
class Part:
    """A constituent under construction; its children are constituents or the places of words."""

    label: str
    children: list[Part | int] = field(default_factory=list)


@dataclass(slots=True)
class Chunk:
    """A base phrase or a word outside of any."""

    kind: str
    """`NP`, `ADVP`, `ADJP`; `V` a verb, `TO` before a verb, `P` a preposition or a conjunction of clauses, `W` a
    question word with its noun, `CC`, `RP`; or a mark: `,` `.` `:` `(` `)`; `X` anything else."""
    part: Part | int
    head: int
    """The place of its head word."""


_CLAUSAL = frozenset("although though if unless whether because while whereas lest".split())
_EITHER = frozenset("before after since until till as than once so that".split())
"""Prepositions, or conjunctions where a clause follows."""


def is_clausal(word: Word) -> bool:
    """Whether a clause always follows this conjunction."""
    return word.lower in _CLAUSAL


def may_be_clausal(word: Word) -> bool:
    """Whether a clause may follow this preposition."""
    return word.lower in _EITHER or word.lower in _CLAUSAL


def tag_at(words: Sequence[Word], place: int) -> str:
    """The tag there; empty past the end."""
    return words[place].tag if place < len(words) else ""


def lower_at(words: Sequence[Word], place: int) -> str:
    """The word there in lower case; empty past the end."""
    return words[place].lower if place < len(words) else ""
