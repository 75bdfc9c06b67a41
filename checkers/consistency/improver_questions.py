"""The questions that RAI puts to a writer, rendered from templates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from checkers.consistency.questions import Material
from checkers.consistency.rewrites import SentenceRewrites, WholeRewrite, too_long
from checkers.oracle.prompts import Template, load_template, require_known
from checkers.oracle.protocol import Question
from schemas import SentenceFinding, Task

_PACKAGE = "checkers.consistency.prompts"
_SENTENCES = "improve"
_WHOLE = "improve.paragraph"
TEMPLATE_NAMES = (_SENTENCES, _WHOLE)

_WORDS: dict[Task, dict[str, str]] = {
    "summary": {"source": "article", "text": "summary"},
    "answer": {"source": "passages", "text": "answer"},
    "paraphrase": {"source": "true answer", "text": "attempt at it"},
}
"""What a task's reference and response are called; the other placeholders are the same for all tasks."""


class ImproverQuestions:
    """Renders questions; `own` replaces built-in templates by name.

    Raises:
        ValueError: a name in `own` that is none of `TEMPLATE_NAMES`, or (as TemplateError) an unusable template.
    """

    def __init__(self, own: Mapping[str, Path] | None = None) -> None:
        own = own or {}
        require_known(own, TEMPLATE_NAMES)
        self._sentences = _load(_SENTENCES, ("sentences",), ("count",), own.get(_SENTENCES))
        self._whole = _load(_WHOLE, ("reason",), (), own.get(_WHOLE))

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return {template.name: template.version for template in (self._sentences, self._whole)}

    def about_sentences(self, material: Material, faults: Sequence[SentenceFinding]) -> Question[SentenceRewrites]:
        """RAI: a rewrite for each of `faults`, which stand in `material.response`."""
        listed = [
            orjson.dumps({"number": number, "sentence": fault.text, "reason": fault.reason}).decode()
            for number, fault in enumerate(faults, start=1)
        ]
        fenced = {**_fenced(material), "sentences": "[\n" + ",\n".join(listed) + "\n]"}
        return Question(
            task=f"{_SENTENCES}.{material.task}",
            prompt_version=self._sentences.version,
            messages=self._sentences.render(fenced, {**_WORDS[material.task], "count": str(len(faults))}),
            reply=SentenceRewrites,
        )

    def about_whole(self, material: Material, reason: str) -> Question[WholeRewrite]:
        """RAI in paragraph granularity: the whole response anew, given why it is not consistent."""

        def complaint(reply: WholeRewrite) -> str | None:
            if not reply.improved.strip():
                return "'improved' is empty"
            if too_long(reply.improved.strip(), material.response):
                return "'improved' is more than three times as long as the text"
            return None

        return Question(
            task=f"{_WHOLE}.{material.task}",
            prompt_version=self._whole.version,
            messages=self._whole.render({**_fenced(material), "reason": reason}, _WORDS[material.task]),
            reply=WholeRewrite,
            complaint=complaint,
        )


def _fenced(material: Material) -> dict[str, str]:
    return {
        "reference": material.reference,
        "response": material.response,
        "question": material.prompt or "(not known)",
    }


def _load(name: str, fenced: tuple[str, ...], plain: tuple[str, ...], path: Path | None) -> Template:
    return load_template(
        name,
        package=_PACKAGE,
        fenced=("reference", "response", "question", *fenced),
        plain=("source", "text", *plain),
        optional=("question", "source", "text", *(("response", "count") if name == _SENTENCES else ())),
        path=path,
    )
