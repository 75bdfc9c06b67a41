"""Criteria in plain language: the question to a judge, and the bit in its answer."""

import json
from typing import Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from checkers.canonical import canonical
from models.prompts import Template
from models.protocol import Oracle, Question


class CriterionJudge(Protocol):
    """Answers criteria in plain language on behalf of one check."""

    async def bit(self, criterion: str, x: JsonValue) -> bool:
        """True if `criterion`, a question that can be answered with yes or no, is answered with yes for `x`.

        Raises:
            OracleError: the judge gave no answer.
        """


class NoJudge:
    """For rubrics that have no criterion in plain language."""

    async def bit(self, criterion: str, x: JsonValue) -> bool:
        raise RuntimeError("a criterion in plain language, where there is no judge")


class OracleJudge:
    """Asks an oracle; each pair of criterion and datapoint once it has been answered."""

    def __init__(self, oracle: Oracle, template: Template) -> None:
        self._oracle = oracle
        self._template = template
        self._known: dict[tuple[str, str], bool] = {}

    async def bit(self, criterion: str, x: JsonValue) -> bool:
        key = (criterion, canonical(x))
        known = self._known.get(key)
        if known is None:
            answer = await self._oracle.ask(criterion_question(criterion, x, self._template))
            known = self._known[key] = answer.reply.holds
        return known


class CriterionReply(BaseModel):
    """The judge's answer, and the reason for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    holds: bool


def criterion_question(criterion: str, x: JsonValue, template: Template) -> Question[CriterionReply]:
    """Asks if `criterion`, in the words of the rubric, holds for `x`, which is untrusted.

    The placeholders of `template` are `datapoint`, fenced, and `criterion`, plain.
    """
    shown = x if isinstance(x, str) else json.dumps(x, ensure_ascii=False, sort_keys=True, indent=2)
    return Question(
        task="labelling.criterion",
        prompt_version=template.version,
        messages=template.render({"datapoint": shown}, {"criterion": criterion}),
        reply=CriterionReply,
    )
