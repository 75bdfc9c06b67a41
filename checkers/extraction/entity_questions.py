"""Questions to the subject (the paper's prompt 1), and to the judge about replacements and paraphrases."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from models.prompts import Placeholders, PromptSet, as_list
from models.protocol import Question

CANDIDATES = 5
"""Asked for of each entity, as in the paper."""
PARAPHRASES = 5
"""Asked for; the first that keeps all entities is used."""

_MOST_ENTITIES = 1000


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FoundEntity(_Reply):
    """An entity, and what kind of thing it is."""

    # Recordings have it by its name here.
    model_config = ConfigDict(validate_by_alias=True, validate_by_name=True)

    kind: str = Field(default="", alias="class")
    entity: str


def _named_alone(given: Any) -> Any:
    """An extractor that knows no classes may give its entities as strings."""
    return {"entity": given} if isinstance(given, str) else given


class EntitiesReply(_Reply):
    """The entities of a text."""

    entities: Annotated[list[Annotated[FoundEntity, BeforeValidator(_named_alone)]], Field(max_length=_MOST_ENTITIES)]


class ParaphrasesReply(_Reply):
    """A text in other words."""

    paraphrases: list[str]


class Candidate(_Reply):
    """A text that may take an entity's place."""

    text: str
    fits: bool
    """Read again in its place, the text is grammatical, and the candidate of the entity's kind."""


class Proposal(_Reply):
    """Candidates for one entity."""

    entity: str
    named: bool
    """True if it is a name, and so are the candidates; else they are synonyms."""
    candidates: list[Candidate]


class NamesReply(_Reply):
    """Candidates for the entities of a text."""

    replacements: list[Proposal]


class ExtractionPrompts(PromptSet):
    """Questions about a text and its entities."""

    package = "checkers.extraction.prompts"
    placeholders: ClassVar = {
        "entities": Placeholders(("text",)),
        "names": Placeholders(("entities", "text"), ("count",), ("count",)),
        "rewording": Placeholders(("entities", "text"), ("count",), ("count",)),
    }

    def entities(self, text: str, under: str | None = None) -> Question[EntitiesReply]:
        """The entities of `text`; `under` is the prompt of the application that the subject works for."""
        return self._question(
            "entities",
            "extraction.entities",
            EntitiesReply,
            {"text": text},
            under=under,
            data={"text": text},
        )

    def names(self, text: str, classes: Mapping[str, str]) -> Question[NamesReply]:
        """Replacements for entities of `text`, by the class of each; an empty class is unknown."""
        return self._question(
            "names",
            "extraction.names",
            NamesReply,
            {"entities": as_list([{"entity": one, "class": of} for one, of in classes.items()]), "text": text},
            {"count": str(CANDIDATES)},
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
