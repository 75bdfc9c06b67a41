"""What the subject is asked (the paper's prompt 1), and the judge if texts are to be paraphrased."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from models.prompts import Placeholders, PromptSet, as_list
from models.protocol import Question

PARAPHRASES = 5
"""Asked for; the first that keeps all entities is used."""

_MOST_ENTITIES = 1000


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


class ExtractionPrompts(PromptSet):
    """What is asked about a text and its entities."""

    package = "checkers.extraction.prompts"
    placeholders: ClassVar = {
        "entities": Placeholders(("text",)),
        "rewording": Placeholders(("entities", "text"), ("count",), ("count",)),
    }

    def entities(self, text: str, under: str | None = None) -> Question[EntitiesReply]:
        """Which entities `text` has; `under` is the prompt of the application that the subject works for."""
        return self._question(
            "entities", "extraction.entities", EntitiesReply, {"text": text}, under=under, data={"text": text}
        )

    def paraphrases(self, text: str, entities: Sequence[str]) -> Question[ParaphrasesReply]:
        """`text` in other words that keep its entities."""
        return self._question(
            "rewording",
            "extraction.paraphrase",
            ParaphrasesReply,
            {"entities": as_list(entities), "text": text},
            {"count": str(PARAPHRASES)},
        )
