"""Constituency trees over a sentence's tokens: the parser makes them, alignments are found in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_SPOKEN_SIGNS = frozenset("%&@#§†‰")
"""Members of Unicode's punctuation that are read aloud as a word."""


@dataclass(frozen=True, slots=True)
class Node:
    """A constituent over the tokens from `start` up to, not including, `end`."""

    start: int
    end: int
    label: str = ""
    """The category, such as `NP`; of a leaf the part of speech, such as `NN`."""
    children: tuple[Node, ...] = ()
    """In order and without gaps; none for a leaf, which is one token."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A sentence, its tokens and its constituents."""

    sentence: str
    tokens: tuple[str, ...]
    """The words and marks as they are in the sentence."""
    starts: tuple[int, ...]
    """For each token the character of the sentence at which it begins."""
    root: Node


def nodes(root: Node) -> Iterator[Node]:
    """All nodes, parents before children, left before right."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def is_punctuation(token: str) -> bool:
    """True for a mark, false for a word."""
    marks = all(sign in "`´" or unicodedata.category(sign)[0] == "P" for sign in token)
    return marks and not _SPOKEN_SIGNS & set(token)
