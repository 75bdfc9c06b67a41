"""The question that is put to a judge about a query and stored texts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from checkers.oracle.claims import Claims
from checkers.oracle.prompts import as_list, load_template, require_known
from checkers.oracle.protocol import Question
from checkers.retrieval.matching.replies import Replies

Store = Literal["cache", "knowledge"]

TEMPLATE_NAMES: tuple[Store, ...] = get_args(Store)
_PACKAGE = "checkers.retrieval.prompts"
_ENTAILMENT = "entailment"


class Questions:
    """Renders questions; `own` replaces built-in templates by name.

    Raises:
        ValueError: a name in `own` that is none of `TEMPLATE_NAMES`, or (as TemplateError) an unusable template.
    """

    def __init__(self, own: Mapping[str, Path] | None = None) -> None:
        own = own or {}
        require_known(own, TEMPLATE_NAMES)
        self._templates = {
            name: load_template(
                name,
                package=_PACKAGE,
                fenced=("query", "texts"),
                plain=("count",),
                optional=("count",),
                path=own.get(name),
            )
            for name in TEMPLATE_NAMES
        }

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return {name: template.version for name, template in self._templates.items()}

    def about(self, store: Store, query: str, texts: Sequence[str]) -> Question[Replies]:
        """Both directions between the query and each of `texts`.

        A judge that grades is asked for one direction at a time: here whether the query entails the texts.
        """
        template = self._templates[store]
        count = len(texts)

        def complaint(reply: Replies) -> str | None:
            if [one.number for one in reply.texts] == list(range(1, count + 1)):
                return None
            return f"'texts' must have one entry for each of the {count} stored texts, numbered 1 to {count} in order"

        return Question(
            task=f"retrieval.{store}",
            prompt_version=template.version,
            messages=template.render({"query": query, "texts": as_list(texts)}, {"count": str(count)}),
            reply=Replies,
            claims=Claims(query, tuple(texts), _ENTAILMENT),
            from_grades=lambda _: Replies(texts=[]),
            complaint=complaint,
        )


def reversed_for(question: Question[Replies], query: str, text: str) -> Question[Replies]:
    """The same question for a judge that grades, as to whether `text` entails the query."""
    return replace(question, claims=Claims(text, (query,), _ENTAILMENT))
