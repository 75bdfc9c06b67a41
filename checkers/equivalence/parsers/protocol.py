"""What every parser is to the checker."""

from collections.abc import Sequence
from typing import Protocol

from checkers.equivalence.trees import Tree
from checkers.oracle.protocol import Answer, Question, ReplyT


class Asks(Protocol):
    """An oracle."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer; raises OracleError."""


class Parser(Protocol):
    """Makes constituency trees; belongs to one event loop."""

    @property
    def name(self) -> str:
        """What makes the trees, with all that they depend on: another name where they may differ."""

    async def parse(self, sentences: Sequence[str], asks: Asks | None = None) -> list[Tree]:
        """A tree for each sentence, in order.

        `asks` is who is asked, and billed, by a parser that asks a model; without it the judge itself. Sentences are
        parsed as one, however many full stops they have.

        Raises:
            Undecidable: a sentence has no words, is too long, or this parser has no tree for it.
            OracleUnavailable: what parses is down; the record is to be held.
            OracleFailed: the judge gave no usable tree.
        """

    async def close(self) -> None:
        """Release connections, threads and files."""
