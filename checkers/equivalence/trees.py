"""Constituency trees over a sentence's tokens: what parsers make and alignments are found in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DEEPEST = 200
"""Levels of a tree. Sentences people write need a fifth; more would let a hostile one exhaust the stack."""

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BRACKET = re.compile("|".join(_BRACKETS))
_ESCAPES = {
    "``": ('"', "“", "„", "«", "''", "‘‘"),
    "''": ('"', "”", "»", "’’"),
    "`": ("'", "‘", "‚"),
    "'": ("’", "‘"),
    "...": ("…", ". . ."),
    "--": ("—", "–"),
}
"""How the Penn Treebank writes what had no key, and what it may stand for in a sentence."""
_UNBROKEN = "\u00a0"
"""Stands for a blank within a token."""

_PIECE = re.compile(r"[ \t\r\n]*([()]|[^ \t\r\n()]+)")
_UNFIT = re.compile(r"[\s()]")
_PUNCTUATION_TAGS = frozenset([".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "PUNCT"])
_SIGNS = frozenset("%&@#§†‰")
"""Of Unicode's punctuation, what is read aloud as a word."""


class TreeFault(ValueError):
    """No tree over these tokens; says what is wrong and where."""


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
    """A sentence, its tokens and how they hang together.

    Raises:
        TreeFault: the tokens do not stand in the sentence as said, or the nodes are no tree over them.
    """

    sentence: str
    tokens: tuple[str, ...]
    """As they stand in the sentence, no escapes."""
    starts: tuple[int, ...]
    """For each token the character of the sentence at which it begins."""
    root: Node

    def __post_init__(self) -> None:
        _check_places(self)
        _check_nodes(self.root, len(self.tokens))

    def text(self, start: int, end: int) -> str:
        """What the sentence says from one token up to, not including, another."""
        return self.sentence[self.starts[start] : self.starts[end - 1] + len(self.tokens[end - 1])]


def nodes(root: Node) -> Iterator[Node]:
    """All nodes, parents before children, left before right."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def is_punctuation(token: str, tag: str) -> bool:
    """Whether a token is a mark and no word."""
    if tag in _PUNCTUATION_TAGS:
        return True
    return all(sign in "`´" or unicodedata.category(sign)[0] == "P" for sign in token) and not _SIGNS & set(token)


def located(tokens: Sequence[str], sentence: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The tokens as they stand in the sentence, and where each begins; treebank escapes are undone.

    Raises:
        TreeFault: they are not the sentence's words in its order, blanks apart.
    """
    found: list[str] = []
    starts: list[int] = []
    place = 0
    for token in tokens:
        while place < len(sentence) and sentence[place].isspace():
            place += 1
        verbatim = next((form for form in _forms(token) if sentence.startswith(form, place)), None)
        if verbatim is None:
            raise TreeFault(f"token {len(found) + 1} is {token!r}, the sentence goes on with {sentence[place:][:20]!r}")
        found.append(verbatim)
        starts.append(place)
        place += len(verbatim)
    if sentence[place:].strip():
        raise TreeFault(f"the tokens end before the sentence does, at {sentence[place:].strip()[:20]!r}")
    return tuple(found), tuple(starts)


def from_brackets(text: str, sentence: str | None = None) -> Tree:
    """Read `(S (NP (NN rain)) (VP (VBZ falls)))`, over the sentence or else over the tokens with blanks between.

    Raises:
        TreeFault: not one tree in brackets, or not over this sentence.
    """
    tokens, root = _Reader().read(text)
    if sentence is None:
        sentence = " ".join(_unescaped(token) for token in tokens)
    verbatim, starts = located(tokens, sentence)
    return Tree(sentence, verbatim, starts, root)


def to_brackets(tree: Tree) -> str:
    """A tree as `from_brackets` reads it, on one line."""
    parts: list[str] = []
    waiting: list[Node | str] = [tree.root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item.children:
            parts.append(f"({item.label}")
            waiting.append(")")
            waiting.extend(reversed(item.children))
        else:
            token = _UNBROKEN.join(tree.tokens[item.start].split())
            parts.append(f"({item.label} {escaped(token)})")
    return " ".join(parts).replace(" )", ")")


def escaped(token: str) -> str:
    """A token as it stands in a tree that is written: brackets have a meaning there, within a token too."""
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def _unescaped(token: str) -> str:
    return _BRACKET.sub(lambda match: _BRACKETS[match.group()], token)


def _forms(token: str) -> tuple[str, ...]:
    plain = token.replace("\\/", "/").replace("\\*", "*")
    blank = plain.replace(_UNBROKEN, " ")
    return (token, plain, blank, _unescaped(token), _unescaped(blank), *_ESCAPES.get(token, ()))


@dataclass(slots=True)
class _Open:
    label: str
    start: int
    children: list[Node]
    word: bool = False


class _Reader:
    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._stack: list[_Open] = []
        self._root: Node | None = None

    def read(self, text: str) -> tuple[list[str], Node]:
        text = text.strip(" \t\r\n")
        place = 0
        while (match := _PIECE.match(text, place)) is not None:
            piece, at, place = match.group(1), match.start(1) + 1, match.end()
            if self._root is not None:
                raise TreeFault(f"something follows the tree at character {at}: {piece[:20]!r}")
            if piece == "(":
                named = _PIECE.match(text, place)
                label = named.group(1) if named and named.start(1) == place and named.group(1) not in "()" else ""
                place += len(label)
                self._open(label, at)
            elif not self._stack:
                raise TreeFault(f"a tree begins with a bracket, not with {piece[:20]!r}")
            elif piece == ")":
                self._close(at)
            else:
                self._word(piece, at)
        if self._root is None:
            raise TreeFault(f"{len(self._stack)} brackets are never closed" if self._stack else "there is no tree")
        return self._tokens, self._root

    def _open(self, label: str, at: int) -> None:
        if self._stack and self._stack[-1].word:
            raise TreeFault(f"a bracket opens behind a word at character {at}")
        if len(self._stack) == DEEPEST:
            raise TreeFault(f"more than {DEEPEST} levels at character {at}")
        self._stack.append(_Open(label, len(self._tokens), []))

    def _word(self, word: str, at: int) -> None:
        if self._stack[-1].children or self._stack[-1].word:
            raise TreeFault(f"the word {word[:20]!r} at character {at} has no bracket of its own")
        self._stack[-1].word = True
        self._tokens.append(word)

    def _close(self, at: int) -> None:
        opened = self._stack.pop()
        if len(self._tokens) == opened.start:
            raise TreeFault(f"the bracket closed at character {at} holds no word")
        closed = Node(opened.start, len(self._tokens), opened.label, tuple(opened.children))
        if self._stack:
            self._stack[-1].children.append(closed)
        else:
            self._root = closed


def _check_places(tree: Tree) -> None:
    if len(tree.tokens) != len(tree.starts):
        raise TreeFault(f"{len(tree.tokens)} tokens have {len(tree.starts)} beginnings")
    last = 0
    for token, start in zip(tree.tokens, tree.starts, strict=True):
        if not token or start < last or not tree.sentence.startswith(token, start):
            raise TreeFault(f"the token {token[:20]!r} does not stand at character {start + 1}")
        last = start + len(token)


def _check_nodes(root: Node, count: int) -> None:
    if (root.start, root.end) != (0, count) or not count:
        raise TreeFault(f"the root covers tokens {root.start} to {root.end}, the sentence has 0 to {count}")
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if _UNFIT.search(node.label):
            raise TreeFault(f"the label {node.label!r} holds a blank or a bracket")
        if depth > DEEPEST:
            raise TreeFault(f"the tree has more than {DEEPEST} levels")
        if not node.children and node.end != node.start + 1:
            raise TreeFault(f"the leaf {node.label!r} covers tokens {node.start} to {node.end} and not one")
        place = node.start
        for child in node.children:
            if child.start != place or child.end <= child.start:
                raise TreeFault(f"below {node.label!r} a node begins at token {child.start} and not at {place}")
            place = child.end
            waiting.append((child, depth + 1))
        if node.children and place != node.end:
            raise TreeFault(f"{node.label!r} ends at token {node.end}, its last child at {place}")
