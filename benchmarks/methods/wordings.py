"""One question in several wordings: do two sentences say the same (MSRP)? Prompt 5 of the oracle-checker paper."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from benchmarks.methods.equivalence import pairs_of
from benchmarks.methods.model import asked
from benchmarks.methods.retrieval import plain
from benchmarks.tables import table
from checkers.equivalence.questions import EquivalencePrompts, EquivalenceReply
from checkers.intervals import wilson
from lab.equivalence import Pair
from models.protocol import Message, Model, ModelFailed, Question
from schemas.base import Text

_OURS, _THEIRS = "Explain it shortly, then answer yes or no.", "Answer yes or no, then explain it shortly."


class _AnswerFirst(BaseModel):
    """The paper's order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Literal["yes", "no"]
    explanation: Text


def measure(options: argparse.Namespace) -> None:
    """Print for each wording how many answers are right, and how many say yes."""
    with asked(options) as models:
        model = models.subjects[options.model]
        print(table(["asked", "pairs", "yes", "right", "95%"], asyncio.run(_lines(options, model))))


async def _lines(options: argparse.Namespace, model: Model) -> list[list[object]]:
    prompts, by_word, pairs = EquivalencePrompts(), plain(model), pairs_of(options)

    async def ours(pair: Pair) -> bool:
        question = prompts.alike("equivalent", pair.sentence1, pair.sentence2)
        return (await model.ask(question)).reply.answer == "yes"

    async def theirs(pair: Pair) -> bool:
        question = _answer_first(prompts.alike("equivalent", pair.sentence1, pair.sentence2))
        return (await model.ask(question)).reply.answer == "yes"

    async def word(pair: Pair) -> bool:
        return await by_word(pair.sentence1, pair.sentence2) >= 1 / 2

    ways = {"explanation first": ours, "answer first, as the paper": theirs, "one plain word": word}
    return [[name, *await _figures(ask, pairs)] for name, ask in ways.items()]


async def _figures(ask: Callable[[Pair], Awaitable[bool]], pairs: list[Pair]) -> list[object]:
    yes = right = 0
    for pair in pairs:
        try:
            said = await ask(pair)
        except ModelFailed:
            continue
        yes, right = yes + said, right + (said is pair.label)
    return [len(pairs), yes, right / len(pairs), "{:.2f} to {:.2f}".format(*wilson(right, len(pairs)))]


def _answer_first(question: Question[EquivalenceReply]) -> Question[_AnswerFirst]:
    def turned(message: Message) -> Message:
        if message.role != "assistant":
            return Message(message.role, message.content.replace(_OURS, _THEIRS))
        reply = json.loads(message.content)
        return Message("assistant", json.dumps({"answer": reply["answer"], "explanation": reply["explanation"]}))

    return Question(
        question.task, question.prompt_version, tuple(map(turned, question.messages)), _AnswerFirst,
        max_tokens=question.max_tokens,
    )  # fmt: skip
