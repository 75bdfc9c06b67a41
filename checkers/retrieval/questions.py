"""The question that is put to a judge about a query and stored texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from checkers.oracle.claims import Claims
from checkers.oracle.prompts import Placeholders, Templates, as_list
from checkers.oracle.protocol import Question
from checkers.retrieval.matching.replies import Replies

Store = Literal["cache", "knowledge"]

_PACKAGE = "checkers.retrieval.prompts"
_ENTAILMENT = "entailment"
_PLACEHOLDERS = {store: Placeholders(("query", "texts"), ("count",), ("count",)) for store in get_args(Store)}


class Questions:
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

    def about(self, store: Store, query: str, texts: Sequence[str]) -> Question[Replies]:
        """Both directions between the query and each of `texts`."""
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
            complaint=complaint,
        )


def claims_about(query: str, texts: Sequence[str]) -> list[Claims]:
    """For a judge that grades: first whether the query entails each of `texts`, then whether each entails the query."""
    return [Claims(query, tuple(texts), _ENTAILMENT), *(Claims(text, (query,), _ENTAILMENT) for text in texts)]
