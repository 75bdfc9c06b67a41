"""The judge's answers to plain-language criteria."""

from typing import Protocol

from pydantic import JsonValue

from checkers.canonical import canonical
from checkers.labelling.rubric import criterion_question
from checkers.oracle.prompts import Template
from checkers.oracle.protocol import Answer, Question, ReplyT


class Asks(Protocol):
    """The part of an oracle that is needed here."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer; raises OracleError."""


class JudgeAsking:
    """Asks a judge whether a criterion holds, each pair of criterion and datapoint once it has been answered."""

    def __init__(self, judge: Asks, template: Template | None = None) -> None:
        """`template` takes the place of the built-in question."""
        self._judge = judge
        self._template = template
        self._known: dict[tuple[str, str], bool] = {}

    async def bit(self, criterion: str, x: JsonValue) -> bool:
        """The judge's answer; raises OracleError."""
        key = (criterion, canonical(x))
        known = self._known.get(key)
        if known is None:
            answer = await self._judge.ask(criterion_question(criterion, x, self._template))
            known = self._known[key] = answer.reply.holds
        return known
