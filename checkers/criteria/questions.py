"""What is asked besides the criterion itself: the words at fault, and answers to try it on."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from checkers.criteria.examples import LabelledAnswer, passages_of
from models.judges.questions import before_answer
from models.prompts import Placeholders, PromptSet
from models.protocol import Message, Model, ModelFailed, Question
from schemas import Generation, Quotation
from schemas.base import Text

_MADE = 4
_MOST_QUOTED = 600
"""Characters."""
_QUOTE_TOKENS, _MADE_TOKENS = 200, 600


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Quoted(_Reply):
    """The words at fault; empty if none are."""

    words: Text


class MadeAnswer(_Reply):
    """A conversation of two turns."""

    question: Text
    answer: Annotated[Text, Field(pattern=r"\S")]


class MadeAnswers(_Reply):
    """Several of them."""

    examples: Annotated[list[MadeAnswer], Field(max_length=20)]


class CriterionQuestions(PromptSet):
    """Questions to a writer about a criterion: `ask` is its question, `reply` the reply to that."""

    package = "checkers.criteria.prompts"
    placeholders: ClassVar = {
        "quote": Placeholders(("answer",), ("before", "asked", "reply")),
        "make": Placeholders((), ("count", "asked", "reply")),
    }

    def quote(self, ask: str, reply: str, record: Generation, examples: Sequence[LabelledAnswer]) -> Question[Quoted]:
        """Which words of the response decide that; examples with words go before."""

        def turn(about: Generation) -> Question[Quoted]:
            own = {"asked": ask, "reply": reply, "before": before_answer(passages_of(about), about.prompt)}
            texts = {"answer": about.response}
            return self._question("quote", "criteria.quote", Quoted, texts, own, written=20, max_tokens=_QUOTE_TOKENS)

        question = turn(record)
        system, last = question.messages
        shown: list[Message] = []
        for one in examples:
            if one.words is not None:
                told = json.dumps({"words": one.words}, ensure_ascii=False)
                shown += [turn(one.record).messages[-1], Message("assistant", told)]
        return replace(question, messages=(system, *shown, last))

    def make(self, ask: str, reply: str) -> Question[MadeAnswers]:
        """Four answers about which that is the right reply."""
        own = {"count": str(_MADE), "asked": ask, "reply": reply}
        return self._question("make", "criteria.make", MadeAnswers, {}, own, written=250, max_tokens=_MADE_TOKENS)


async def quoted(writer: Model | None, question: Question[Quoted], response: str) -> Quotation | None:
    """The words at fault; None without a writer, or if its words do not stand in the response.

    Raises:
        ModelUnavailable: the writer's endpoint is down.
    """
    if writer is None:
        return None
    try:
        words = (await writer.ask(question)).reply.words.split()
    except ModelFailed:
        # The verdict does not need them.
        return None
    # Models break lines elsewhere; nothing else may differ.
    found = re.search(r"\s+".join(map(re.escape, words)), response) if words else None
    if found is None or len(found[0]) > _MOST_QUOTED:
        return None
    return Quotation(text=found[0], start=found.start(), end=found.end())


async def made(writer: Model | None, question: Question[MadeAnswers], *, accept: bool) -> list[LabelledAnswer]:
    """Answers of this label; none without a writer, or if it makes none. Raises as `quoted`."""
    if writer is None:
        return []
    try:
        found = (await writer.ask(question)).reply.examples[:_MADE]
    except ModelFailed:
        return []
    known = {"kind": "generation", "source": "made", "model": writer.name}
    records = [Generation.model_validate({**known, "prompt": one.question, "response": one.answer}) for one in found]
    return [LabelledAnswer(record, accept) for record in records]
