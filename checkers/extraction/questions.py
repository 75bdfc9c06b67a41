"""What the subject is asked (the paper's prompt 1), and the judge if texts are to be paraphrased."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from checkers.oracle.prompts import Placeholders, Templates, as_list
from checkers.oracle.protocol import Question

PARAPHRASES = 5
"""Asked for; the first that keeps all entities is used."""

_PACKAGE = "checkers.extraction.prompts"
_MOST_ENTITIES = 1000

_PLACEHOLDERS = {
    "entities": Placeholders(("text",)),
    "rewording": Placeholders(("entities", "text"), ("count",), ("count",)),
}


class FoundEntity(BaseModel):
    """An entity, and what kind of thing it is."""

    # Recordings have it by its name here.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_alias=True, validate_by_name=True)

    kind: str = Field(default="", alias="class")
    entity: str


def _named_alone(given: Any) -> Any:
    """An extractor that knows no classes may give its entities as strings."""
    return {"entity": given} if isinstance(given, str) else given


class EntitiesReply(BaseModel):
    """The entities of a text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entities: Annotated[list[Annotated[FoundEntity, BeforeValidator(_named_alone)]], Field(max_length=_MOST_ENTITIES)]


class ParaphrasesReply(BaseModel):
    """A text in other words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paraphrases: list[str]


class ExtractionPrompts:
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

    def entities(self, text: str, under: str | None = None) -> Question[EntitiesReply]:
        """Which entities `text` has; `under` is the prompt of the application that the subject works for."""
        template = self._templates["entities"]
        return Question(
            task="extraction.entities",
            prompt_version=template.version,
            messages=template.render({"text": text}, under=under),
            reply=EntitiesReply,
            data={"text": text},
        )

    def paraphrases(self, text: str, entities: Sequence[str]) -> Question[ParaphrasesReply]:
        """`text` in other words that keep its entities."""
        template = self._templates["rewording"]
        return Question(
            task="extraction.paraphrase",
            prompt_version=template.version,
            messages=template.render({"entities": as_list(entities), "text": text}, {"count": str(PARAPHRASES)}),
            reply=ParaphrasesReply,
        )
