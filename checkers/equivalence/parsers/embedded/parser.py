"""The embedded parser: trees without any model, the same ones each time."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from checkers.equivalence.parsers.embedded.building import tree_of
from checkers.equivalence.parsers.embedded.chunking import chunked
from checkers.equivalence.parsers.embedded.grammar import Grammar
from checkers.equivalence.parsers.embedded.tagging import tagged
from checkers.equivalence.parsers.embedded.words import QUOTE
from checkers.equivalence.parsers.protocol import Asks
from checkers.equivalence.trees import Tree

_VERSION = 1
"""To be raised whenever a sentence could get another tree, by other rules or by another lexicon."""


class EmbeddedParser:
    """Rules on a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parser")

    @property
    def name(self) -> str:
        """With the version of its rules."""
        return f"embedded/{_VERSION}"

    async def parse(self, sentences: Sequence[str], asks: Asks | None = None) -> list[Tree]:
        """See `Parser`; nobody is asked, and any text that is not blank has a tree."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: [parse_sentence(one) for one in sentences])

    async def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def parse_sentence(sentence: str) -> Tree:
    """The tree of a text that is not blank."""
    words = tagged(sentence)
    # What is quoted is built like all else: quotation marks come back when the tree stands.
    places = [place for place, word in enumerate(words) if word.tag != QUOTE]
    spoken = [words[place] for place in places]
    root = Grammar(spoken, chunked(spoken)).text() if spoken else None
    return tree_of(sentence, words, places, root)
