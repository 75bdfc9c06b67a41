"""The questions that DCE and AMC put to a judge, rendered from templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import orjson

from checkers.consistency.replies import Marks, Reasons
from checkers.oracle.claims import Claims
from checkers.oracle.prompts import Placeholders, Templates, as_list
from checkers.oracle.protocol import Message, Question, ReplyT
from schemas import Task

TASKS: tuple[Task, ...] = get_args(Task)
_PACKAGE = "checkers.consistency.prompts"
_CONVERT = "convert"
_MATERIAL = ("reference", "response", "question")
_OPTIONAL = ("question", "response")
_PLACEHOLDERS = {
    **{task: Placeholders((*_MATERIAL, "sentences"), ("count",), _OPTIONAL) for task in TASKS},
    **{f"{task}.paragraph": Placeholders(_MATERIAL, optional=_OPTIONAL) for task in TASKS},
    _CONVERT: Placeholders(("reasons",), ("count",)),
}


@dataclass(frozen=True, slots=True)
class CheckedResponse:
    """What a response is held against, and the response itself."""

    task: Task
    reference: str
    response: str
    prompt: str | None

    def claims(self, sentences: Sequence[str]) -> Claims:
        """For a judge that grades: `sentences` against the reference."""
        return Claims(self.reference, tuple(sentences), self.task, self.prompt)


class ConsistencyQuestions:
    """Renders questions; `own` replaces built-in templates by name.

    Raises:
        ValueError: a name in `own` that no template has, or (as TemplateError) an unusable template.
    """

    def __init__(self, own: Mapping[str, Path] | None = None) -> None:
        self._templates = Templates(_PACKAGE, _PLACEHOLDERS, own)

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return self._templates.versions

    def version(self, task: Task, *, whole: bool) -> dict[str, str]:
        """The digests of the templates that one check of `task` may use."""
        name = f"{task}.paragraph" if whole else task
        return {used: self._templates[used].version for used in (name, _CONVERT)}

    def about_sentences(self, material: CheckedResponse, sentences: Sequence[str]) -> Question[Reasons]:
        """DCE: a reason for each of `sentences`, which stand in `material.response`."""
        return self._about(material, material.task, sentences)

    def about_whole(self, material: CheckedResponse) -> Question[Reasons]:
        """DCE in paragraph granularity: one reason for the whole response."""
        return self._about(material, f"{material.task}.paragraph", (material.response,))

    def conversion(self, reasons: Sequence[str]) -> Question[Marks]:
        """AMC: a mark for each of `reasons`."""
        template = self._templates[_CONVERT]
        wanted = len(reasons)

        def complaint(reply: Marks) -> str | None:
            if len(reply.answer) == wanted:
                return None
            return f"there are {wanted} notes, but 'answer' has {len(reply.answer)} entries"

        return Question(
            task="consistency.convert",
            prompt_version=template.version,
            messages=template.render({"reasons": as_list(reasons)}, {"count": str(wanted)}),
            reply=Marks,
            complaint=complaint,
        )

    def _about(self, material: CheckedResponse, name: str, sentences: Sequence[str]) -> Question[Reasons]:
        template = self._templates[name]
        fenced = {
            "reference": material.reference,
            "response": material.response,
            "sentences": as_list(sentences),
            "question": material.prompt or "(not known)",
        }
        return Question(
            task=f"consistency.{name}",
            prompt_version=template.version,
            messages=template.render(fenced, {"count": str(len(sentences))}),
            reply=Reasons,
        )


def again(question: Question[ReplyT], reply: ReplyT, complaint: str) -> Question[ReplyT]:
    """The same question once more, after a reply that did not cover the sentences as asked."""
    said = Message("assistant", orjson.dumps(reply.model_dump()).decode())
    return replace(question, messages=(*question.messages, said, Message("user", complaint)))
