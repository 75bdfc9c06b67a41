"""The trees of a parser, each made once: kept in memory and, if wanted, in a file; a sentence under way is joined."""

from collections.abc import Sequence
from functools import partial

from cachetools import LRUCache

from checkers.checker import Undecidable
from checkers.concurrent import gather_or_cancel
from checkers.equivalence.parsers.protocol import Asks, Parser
from checkers.equivalence.parsers.tree_file import TreeFile
from checkers.equivalence.trees import Tree
from checkers.single_flight import SingleFlight

_AT_ONCE = 32
"""Sentences of one call that are under way, so that the last of many do not wait until a parser gives them up."""


class CachedParser:
    """Around a parser; belongs to one event loop. Failures are told to all who wait, and forgotten."""

    def __init__(self, inner: Parser, *, max_characters: int, tokens: int, file: TreeFile | None = None) -> None:
        """`tokens` bounds the trees in memory by the sum of their tokens."""
        self._inner = inner
        self._max_characters = max_characters
        self._trees: LRUCache[str, Tree] = LRUCache(maxsize=tokens, getsizeof=lambda tree: len(tree.tokens))
        self._file = file
        self._flights: SingleFlight[Tree] = SingleFlight()

    @property
    def name(self) -> str:
        """The parser's."""
        return self._inner.name

    async def parse(self, sentences: Sequence[str], asks: Asks | None = None) -> list[Tree]:
        """See `Parser`; who asks first for a sentence is billed for it."""
        for sentence in sentences:
            self._check(sentence)
        found: list[Tree] = []
        for start in range(0, len(sentences), _AT_ONCE):
            batch = sentences[start : start + _AT_ONCE]
            found += await gather_or_cancel(self._tree(sentence, asks) for sentence in batch)
        return found

    async def close(self) -> None:
        """Close the parser and the file."""
        await self._inner.close()
        if self._file is not None:
            await self._file.close()

    def _check(self, sentence: str) -> None:
        if not sentence.strip():
            raise Undecidable("empty_text", "a sentence has no words")
        if len(sentence) > self._max_characters:
            raise Undecidable(
                "too_long", f"a sentence has {len(sentence)} characters; at most {self._max_characters} are parsed"
            )

    async def _tree(self, sentence: str, asks: Asks | None) -> Tree:
        known = self._trees.get(sentence)
        if known is not None:
            return known
        return await self._flights.join(sentence, partial(self._made, sentence, asks))

    async def _made(self, sentence: str, asks: Asks | None) -> Tree:
        tree = await self._file.get(self.name, sentence) if self._file is not None else None
        if tree is None:
            (tree,) = await self._inner.parse([sentence], asks)
            if self._file is not None:
                await self._file.put(self.name, tree)
        if len(tree.tokens) <= self._trees.maxsize:
            self._trees[sentence] = tree
        return tree
