"""Parsers: from a sentence to its constituency tree."""

from collections.abc import Sequence
from typing import Protocol

from checkers.equivalence.settings import EquivalenceSettings
from checkers.equivalence.trees import Node, Tree, is_punctuation
from models.text.tagger import tag_words
from models.text.tokens import Token, tokens
from models.worktime import compute

_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})
_BEFORE_VERBS = _VERBS | {"TO", "RB"}
"""Tags that belong to the same chunk as the verb behind them."""
_OPENERS = frozenset({"IN", "TO", "CC", "WDT", "WP", "WP$", "WRB"})
"""Tags of the words that begin a chunk: prepositions, conjunctions, relative pronouns."""


class Parser(Protocol):
    """Makes constituency trees; belongs to one event loop."""

    @property
    def name(self) -> str:
        """Parser and version: another name whenever a sentence may get another tree."""

    async def parse(self, sentence: str) -> Tree:
        """The tree of a text that is not blank, as one sentence however many full stops it has.

        Raises:
            Undecidable: this parser has no tree for the sentence.
            OracleUnavailable: the parser is down; the record is to be held.
        """

    async def close(self) -> None:
        """Release connections."""


class EmbeddedParser:
    """Cuts a sentence into chunks by parts of speech, in a tree that branches to the right; any text has one."""

    name = "embedded/2"

    async def parse(self, sentence: str) -> Tree:
        return await compute(parse_sentence, sentence)

    async def close(self) -> None:
        """There is nothing to release."""


def build_parser(settings: EquivalenceSettings) -> Parser:
    """The parser that `settings` name; nothing is connected yet."""
    if settings.parser == "embedded":
        return EmbeddedParser()
    from checkers.equivalence.corenlp.client import CoreNLPParser

    return CoreNLPParser(
        settings.corenlp_url,
        connections=settings.corenlp_connections,
        timeout_seconds=settings.corenlp_timeout_seconds,
    )


def parse_sentence(sentence: str) -> Tree:
    """The embedded parser's tree of a text that is not blank."""
    cut = tokens(sentence)
    verbatim = tuple(sentence[token.start : token.end] for token in cut)
    leaves = [Node(place, place + 1, tag) for place, tag in enumerate(tag_words([token.text for token in cut]))]
    chunks: list[list[Node]] = []
    for place, leaf in enumerate(leaves):
        if not chunks or _opens_chunk(cut[place - 1 : place + 1], leaves[place - 1].label, leaf.label):
            chunks.append([])
        chunks[-1].append(leaf)
    root = _right_branching([_right_branching(chunk) for chunk in chunks])
    return Tree(sentence, verbatim, tuple(token.start for token in cut), root)


def _opens_chunk(words: Sequence[Token], tag_before: str, tag: str) -> bool:
    """True if the second of two words stands behind a mark, introduces a phrase, or begins a group of verbs."""
    before, word = words
    if before.end == word.start or is_punctuation(word.text, tag):
        return False
    if is_punctuation(before.text, tag_before):
        # A full stop within a sentence belongs to an abbreviation: Mr. Weber.
        return before.text != "."
    return tag in _OPENERS or (tag in _VERBS and tag_before not in _BEFORE_VERBS)


def _right_branching(parts: Sequence[Node]) -> Node:
    """The binary tree in which every part is followed by one constituent of all that comes behind."""
    tree = parts[-1]
    for part in reversed(parts[:-1]):
        tree = Node(part.start, tree.end, "", (part, tree))
    return tree
