"""The questions that are put to a model about entities (the paper's prompts 2 to 4)."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from checkers.extraction.synonyms.classes import EntityClass
from models.prompts import Placeholders, PromptSet
from models.protocol import Question
from schemas.base import Text

NAMES = 5
"""Asked for of each named entity, as in the paper."""

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


class SynonymPrompts(PromptSet):
    """What is asked about one entity of a sentence."""

    package = "checkers.extraction.synonyms.prompts"
    placeholders: ClassVar = {
        "named": Placeholders(("entity", "sentence")),
        "names": Placeholders(("entity", "sentence"), ("kind", "count"), ("kind", "count")),
        "synonyms": Placeholders(("entity", "sentence")),
    }

    def named(self, entity: str, sentence: str) -> Question[NamedReply]:
        """Whether the entity is a name."""
        return self._question("named", "extraction.named", NamedReply, {"entity": entity, "sentence": sentence})

    def names(self, entity: str, sentence: str, kind: EntityClass | None) -> Question[CandidatesReply]:
        """`NAMES` other names of the same kind."""
        words = {"kind": _KINDS[kind] if kind is not None else "of the same kind", "count": str(NAMES)}
        return self._question(
            "names", "extraction.names", CandidatesReply, {"entity": entity, "sentence": sentence}, words
        )

    def synonyms(self, entity: str, sentence: str) -> Question[CandidatesReply]:
        """Other words for an entity that is no name."""
        return self._question(
            "synonyms", "extraction.synonyms", CandidatesReply, {"entity": entity, "sentence": sentence}
        )
