"""Putting a probe to a subject (LINT, section 4): zero-shot, or with a chain of thought."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from checkers.draws import seed_of
from checkers.longtail.asking.examples import worked_examples
from checkers.longtail.corpus import Statement
from checkers.longtail.settings import Way
from checkers.longtail.templates import ProbeTemplate
from models.prompts import Placeholders, Templates
from models.protocol import Oracle, OracleFailed, Question
from schemas.evidence import SubjectCause

_PACKAGE = "checkers.longtail.asking.prompts"
_PLACEHOLDERS = {
    "answer": Placeholders(("question",)),
    "reasoning": Placeholders(("question",), ("examples",), ("examples",)),
}


class AnswerReply(BaseModel):
    """An answer alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: str


class ReasonedReply(BaseModel):
    """An answer after reasoning."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reasoning: str
    answer: str


@dataclass(frozen=True, slots=True)
class AskedProbe:
    """A probe and the subject's answer to it."""

    statement: Statement
    template: ProbeTemplate
    question: str
    expected: str
    answer: str
    """Empty if there is none."""
    reasoning: str | None = None
    unanswered: SubjectCause | None = None
    """Why there is no answer."""


class Asker:
    """Asks probes in one way."""

    def __init__(self, way: Way, *, seed: int, own: Mapping[str, Path] | None = None) -> None:
        """`own` replaces built-in prompts by name; `seed` draws the order of worked examples.

        Raises:
            ValueError: a name in `own` that no prompt has, or (as TemplateError) an unusable one.
        """
        self._prompts = Templates(_PACKAGE, _PLACEHOLDERS, own)
        self._way = way
        self._seed = seed

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every prompt, by name."""
        return self._prompts.versions

    def question(self, statement: Statement, template: ProbeTemplate) -> Question[Any]:
        """What the subject is asked; the same whenever it is asked."""
        fenced = {"question": template.question(statement)}
        if self._way == "zero-shot":
            prompt = self._prompts["answer"]
            return Question("longtail.answer", prompt.version, prompt.render(fenced), AnswerReply)
        prompt = self._prompts["reasoning"]
        examples = worked_examples(seed_of(self._seed, statement.id, template.number))
        return Question(
            "longtail.reasoning", prompt.version, prompt.render(fenced, {"examples": examples}), ReasonedReply
        )

    async def ask(self, subject: Oracle, statement: Statement, template: ProbeTemplate) -> AskedProbe:
        """The answer of `subject`, whatever it is.

        Raises:
            OracleUnavailable: the subject cannot be reached; ask again later.
        """
        answer, reasoning, unanswered = "", None, None
        try:
            reply = (await subject.ask(self.question(statement, template))).reply
        except OracleFailed as error:
            unanswered = error.cause_of_subject
        else:
            answer, reasoning = reply.answer, getattr(reply, "reasoning", None)
        return AskedProbe(
            statement=statement,
            template=template,
            question=template.question(statement),
            expected=template.answer(statement),
            answer=answer,
            reasoning=reasoning,
            unanswered=unanswered,
        )
