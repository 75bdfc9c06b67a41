"""A tree made ready for matching: words with their parts of speech, no unary chains, no marks but those that ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checkers.equivalence.trees import Node, Tree, is_punctuation, nodes

_PREPOSITIONS = frozenset(["IN", "TO", "ADP"])
_ASKING = frozenset("?？؟")
"""Marks that make a question of a statement: they are covered like words."""

_OPENED_BY = {")": "(", "]": "[", "}": "{", "”": "“", "»": "«", '"': '"', "''": "``"}
_CLOSED_BY = {opening: closing for closing, opening in _OPENED_BY.items()}


@dataclass(frozen=True, slots=True)
class Phrases:
    """The nodes of a normalised tree, parents before children: every node is a word or has two children at least."""

    tree: Tree
    starts: tuple[int, ...]
    """For each node its first token."""
    ends: tuple[int, ...]
    """For each node the token behind its last."""
    parents: tuple[int, ...]
    """For each node its parent's place; -1 for the root, which is the first."""
    words: tuple[int, ...]
    """The places of the leaves, in the sentence's order."""
    prepositions: frozenset[int]
    """Those of them that are prepositions: a single one need not be covered."""

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, node: int) -> str:
        """The sentence's words there."""
        start, end = self.span(node)
        return self.tree.sentence[start:end]

    def span(self, node: int) -> tuple[int, int]:
        """The characters of the sentence from a node's first word to its last, with brackets that belong to both."""
        tokens = self.tree.tokens
        first, last = self.starts[node], self.ends[node] - 1
        if last + 1 < len(tokens) and _lacks(tokens[first : last + 1], tokens[last + 1], _OPENED_BY):
            last += 1
        elif first and _lacks(tokens[first : last + 1], tokens[first - 1], _CLOSED_BY):
            first -= 1
        return self.tree.starts[first], self.tree.starts[last] + len(tokens[last])


def phrases(tree: Tree) -> Phrases:
    """Normalise a tree; one without words has no nodes."""
    kept = _kept(tree)
    starts: list[int] = []
    ends: list[int] = []
    parents: list[int] = []
    words: list[int] = []
    prepositions: list[int] = []
    waiting = [(kept, -1)] if kept is not None else []
    while waiting:
        node, parent = waiting.pop()
        place = len(starts)
        starts.append(node.start)
        ends.append(node.end)
        parents.append(parent)
        if not node.children:
            words.append(place)
            if node.label in _PREPOSITIONS:
                prepositions.append(place)
        waiting.extend((child, place) for child in reversed(node.children))
    return Phrases(tree, tuple(starts), tuple(ends), tuple(parents), tuple(words), frozenset(prepositions))


def _kept(tree: Tree) -> Node | None:
    """The root without punctuation and unary chains; None where no word is left."""
    made: dict[int, Node] = {}
    for node in reversed(list(nodes(tree.root))):
        children = tuple(made[id(child)] for child in node.children if id(child) in made)
        if not node.children:
            token = tree.tokens[node.start]
            if token in _ASKING or not is_punctuation(token):
                made[id(node)] = node
        elif len(children) == 1:
            made[id(node)] = children[0]
        elif children:
            made[id(node)] = Node(children[0].start, children[-1].end, node.label, children)
    return made.get(id(tree.root))


def _lacks(tokens: Sequence[str], neighbour: str, partners: Mapping[str, str]) -> bool:
    """True if the mark next to some tokens is the other half of one among them."""
    partner = partners.get(neighbour)
    if partner is None:
        return False
    return tokens.count(partner) % 2 == 1 if partner == neighbour else tokens.count(partner) > tokens.count(neighbour)
