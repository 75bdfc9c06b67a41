"""The questions that are put to a model about entities (the paper's prompts 2 to 4)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from checkers.extraction.synonyms.classes import EntityClass
from checkers.oracle.prompts import Placeholders, Templates
from checkers.oracle.protocol import Question
from schemas.base import Text

NAMES = 5
"""Asked for of each named entity, as in the paper."""

_PACKAGE = "checkers.extraction.synonyms.prompts"

_PLACEHOLDERS = {
    "named": Placeholders(("entity", "sentence")),
    "names": Placeholders(("entity", "sentence"), ("kind", "count"), ("kind", "count")),
    "synonyms": Placeholders(("entity", "sentence")),
}
TEMPLATES = tuple(_PLACEHOLDERS)
"""Names of the templates."""

_KINDS = {
    EntityClass.PERSON: "a person",
    EntityClass.PLACE: "a place",
    EntityClass.ORGANISATION: "an organisation",
    EntityClass.PEOPLE: "a nation, language or faith",
    EntityClass.DATE: "a date or time",
    EntityClass.NUMBER: "a number or measure",
    EntityClass.EVENT: "an event",
    EntityClass.WORK: "a work",
}


class NamedReply(BaseModel):
    """Whether an entity is a name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    explanation: Text
    answer: Literal["named", "normal"]


class CandidatesReply(BaseModel):
    """What may take an entity's place."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: list[Text]


class SynonymPrompts:
    """Renders questions; `own` replaces built-in templates by name.

    `under` is the prompt of the application that a subject works for.

    Raises:
        ValueError: a name in `own` that no template has, or (as TemplateError) an unusable template.
    """

    def __init__(self, own: Mapping[str, Path] | None = None) -> None:
        self._templates = Templates(_PACKAGE, _PLACEHOLDERS, own)

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return self._templates.versions

    def named(self, entity: str, sentence: str, under: str | None = None) -> Question[NamedReply]:
        """Whether the entity is a name."""
        template = self._templates["named"]
        return Question(
            task="extraction.named",
            prompt_version=template.version,
            messages=template.render({"entity": entity, "sentence": sentence}, under=under),
            reply=NamedReply,
        )

    def names(
        self, entity: str, sentence: str, kind: EntityClass | None, under: str | None = None
    ) -> Question[CandidatesReply]:
        """`NAMES` other names of the same kind."""
        template = self._templates["names"]
        words = {"kind": _KINDS[kind] if kind is not None else "of the same kind", "count": str(NAMES)}
        return Question(
            task="extraction.names",
            prompt_version=template.version,
            messages=template.render({"entity": entity, "sentence": sentence}, words, under=under),
            reply=CandidatesReply,
        )

    def synonyms(self, entity: str, sentence: str, under: str | None = None) -> Question[CandidatesReply]:
        """Other words for an entity that is no name."""
        template = self._templates["synonyms"]
        return Question(
            task="extraction.synonyms",
            prompt_version=template.version,
            messages=template.render({"entity": entity, "sentence": sentence}, under=under),
            reply=CandidatesReply,
        )
