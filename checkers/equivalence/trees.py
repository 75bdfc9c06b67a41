"""Constituency trees over a sentence's tokens: parsers make them, alignments are found in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_PIECE = re.compile(r"\(([^ \t\r\n()]*)|\)|[^ \t\r\n()]+")
_PUNCTUATION_TAGS = frozenset([".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "PUNCT"])
_SPOKEN_SIGNS = frozenset("%&@#§†‰")
"""Members of Unicode's punctuation that are read aloud as a word."""


class TreeFault(ValueError):
    """A text that is not one bracketed tree."""


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
    """The words and marks as they stand in the sentence."""
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


def is_punctuation(token: str, tag: str) -> bool:
    """True for a mark, false for a word."""
    if tag in _PUNCTUATION_TAGS:
        return True
    marks = all(sign in "`´" or unicodedata.category(sign)[0] == "P" for sign in token)
    return marks and not _SPOKEN_SIGNS & set(token)


def from_brackets(text: str) -> Node:
    """Read `(S (NP (NN rain)) (VP (VBZ falls)))`.

    Raises:
        TreeFault: it is not one tree whose tokens have a bracket each.
    """
    opened: list[tuple[str, int, list[Node]]] = [("", 0, [])]
    count = 0
    for piece in _PIECE.finditer(text):
        if piece.group(1) is not None:
            opened.append((piece.group(1), count, []))
        elif piece.group() != ")":
            count += 1
        elif len(opened) == 1:
            raise TreeFault(f"a bracket closed at character {piece.start() + 1} was never opened")
        else:
            label, start, children = opened.pop()
            # A leaf has one token; what is above leaves has no token outside its children.
            if count - start != (sum(child.end - child.start for child in children) or 1):
                raise TreeFault(f"the bracket closed at character {piece.start() + 1} is no constituent")
            opened[-1][2].append(Node(start, count, label, tuple(children)))
    if len(opened) > 1:
        raise TreeFault(f"{len(opened) - 1} brackets are never closed")
    roots = opened[0][2]
    if len(roots) != 1 or roots[0].end != count:
        raise TreeFault(f"there are {len(roots)} trees, or tokens outside one")
    return roots[0]
