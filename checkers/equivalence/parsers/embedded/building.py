"""From constituents over words to a tree over tokens: marks put back, hyphens cut, depth bounded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from checkers.equivalence.parsers.embedded.chunks import Part
from checkers.equivalence.parsers.embedded.words import Word
from checkers.equivalence.trees import Node, Tree
from checkers.text.lexicon import lexicon

_LEVELS = 100
"""Of a tree; what lies deeper is left flat."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A node, and the words it spans."""

    begin: int
    end: int
    node: Node


_HYPHEN = re.compile(r"([-–])")


def tree_of(sentence: str, words: Sequence[Word], places: Sequence[int], root: Part | None) -> Tree:
    """The tree over all `words`, from `root` over those at `places`; the rest goes where its neighbours meet."""
    tokens: list[str] = []
    starts: list[int] = []
    leaves: list[Node] = []
    for word in words:
        pieces = _pieces(word)
        first = len(tokens)
        start = word.start
        for piece in pieces:
            tokens.append(piece)
            starts.append(start)
            start += len(piece)
        if len(pieces) == 1:
            leaves.append(Node(first, first + 1, word.tag))
        else:
            tags = ["HYPH" if piece in "-–" else word.tag for piece in pieces]
            children = (Node(first + k, first + k + 1, tag) for k, tag in enumerate(tags))
            leaves.append(Node(first, len(tokens), "NML", tuple(children)))
    return Tree(sentence, tuple(tokens), tuple(starts), _whole(root, places, leaves))


def _whole(root: Part | None, places: Sequence[int], leaves: Sequence[Node]) -> Node:
    if root is None:
        return Node(0, leaves[-1].end, "X", tuple(leaves))
    top = _built(root, places, leaves)
    around = (*leaves[: top.begin], *top.node.children, *leaves[top.end :])
    return Node(0, leaves[-1].end, root.label, around)


def _built(root: Part, places: Sequence[int], leaves: Sequence[Node]) -> _Placed:
    order: list[Part] = []
    flat: set[int] = set()
    waiting = [(root, 1)]
    while waiting:
        part, depth = waiting.pop()
        order.append(part)
        if depth == _LEVELS:
            flat.add(id(part))
        else:
            waiting.extend((child, depth + 1) for child in part.children if isinstance(child, Part))
    made: dict[int, _Placed] = {}
    for part in reversed(order):
        children = _words_of(part) if id(part) in flat else part.children
        below = [
            made[id(child)]
            if isinstance(child, Part)
            else _Placed(places[child], places[child] + 1, leaves[places[child]])
            for child in children
        ]
        made[id(part)] = _joined(part.label, below, leaves)
    return made[id(root)]


def _joined(label: str, below: Sequence[_Placed], leaves: Sequence[Node]) -> _Placed:
    nodes: list[Node] = []
    begin = at = below[0].begin
    for one in below:
        nodes.extend(leaves[at : one.begin])
        nodes.append(one.node)
        at = one.end
    return _Placed(begin, at, Node(nodes[0].start, nodes[-1].end, label, tuple(nodes)))


def _words_of(part: Part) -> list[int]:
    found: list[int] = []
    waiting: list[Part | int] = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, int):
            found.append(one)
        else:
            waiting.extend(reversed(one.children))
    return found


def _pieces(word: Word) -> list[str]:
    """The words of a compound, with its hyphens; what is no word by itself (co-, e-) stays joined."""
    parts = _HYPHEN.split(word.text)
    if len(parts) == 1 or not all(_stands_alone(part) for part in parts[::2]):
        return [word.text]
    return parts


def _stands_alone(part: str) -> bool:
    return part[:1].isdigit() or (len(part) > 2 and lexicon().knows(part)) or (part[:1].isupper() and len(part) > 1)
