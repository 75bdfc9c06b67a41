"""Criteria in plain language: what a judge is asked, and who asks it."""

import json
from functools import cache
from typing import Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from checkers.oracle.prompts import Template, load_template
from checkers.oracle.protocol import Question


class Asking(Protocol):
    """Answers criteria in plain language on behalf of one check."""

    async def bit(self, criterion: str, x: JsonValue) -> bool:
        """Whether `criterion`, a question that can be answered with yes or no, is answered with yes for `x`.

        Raises:
            OracleError: the judge gave no answer.
        """


class CriterionReply(BaseModel):
    """The judge's answer: why, and whether the criterion holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    holds: bool


def criterion_question(criterion: str, x: JsonValue, template: Template | None = None) -> Question[CriterionReply]:
    """The question whether `criterion`, in the words of the rubric, holds for `x`, which is untrusted.

    `template` takes the place of the built-in one; its placeholders are `datapoint`, fenced, and `criterion`, plain.
    """
    template = template or criterion_template()
    shown = x if isinstance(x, str) else json.dumps(x, ensure_ascii=False, sort_keys=True, indent=2)
    return Question(
        task="labelling.criterion",
        prompt_version=template.version,
        messages=template.render({"datapoint": shown}, {"criterion": criterion}),
        reply=CriterionReply,
    )


@cache
def criterion_template() -> Template:
    """The built-in template."""
    return load_template("criterion", package="checkers.labelling.prompts", fenced=("datapoint",), plain=("criterion",))
