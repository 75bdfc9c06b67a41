"""Putting a probe to a subject (LINT, section 4)."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from checkers.longtail.corpus import Statement
from checkers.longtail.templates import ProbeTemplate
from models.prompts import Placeholders, PromptSet
from models.protocol import Question


class AnswerReply(BaseModel):
    """An answer alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: str


class Asker(PromptSet):
    """Puts probes, and asks for the answer alone."""

    package = "checkers.longtail.asking.prompts"
    placeholders: ClassVar = {
        "answer": Placeholders(("question",)),
    }

    def question(self, statement: Statement, template: ProbeTemplate) -> Question[AnswerReply]:
        """The question to the subject; the same whenever it is asked."""
        fenced = {"question": template.question(statement)}
        return self._question("answer", "longtail.answer", AnswerReply, fenced)
