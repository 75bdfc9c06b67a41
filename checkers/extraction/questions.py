"""Questions to the subject (the paper's prompt 1), and to the writer about replacements and paraphrases."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from checkers.checker import Undecidable
from checkers.extraction.linearity import Answers, further
from checkers.extraction.mentions import missing
from checkers.form_test import FormCase
from models.prompts import PromptSet, as_list
from models.protocol import Model, ModelFailed, Question, Reply, sample
from schemas import Extraction

CANDIDATES = 5
"""Asked for of each entity, as in the paper, and paraphrases, of which the first that keeps all entities is used."""

_MOST_ENTITIES = 1000
_LIST_TOKENS = 200
"""Besides some for each character of what is listed."""


class FoundEntity(Reply):
    """An entity, and what kind of thing it is."""

    # Recordings have it by its name here.
    model_config = ConfigDict(validate_by_alias=True, validate_by_name=True)

    kind: str = Field(default="", alias="class")
    entity: str


# An extractor that knows no classes may give its entities as strings.
_Found = Annotated[FoundEntity, BeforeValidator(lambda given: {"entity": given} if isinstance(given, str) else given)]


class EntitiesReply(Reply):
    """The entities of a text."""

    entities: Annotated[list[_Found], Field(max_length=_MOST_ENTITIES)]


class ParaphrasesReply(Reply):
    """A text in other words."""

    paraphrases: Annotated[list[str], Field(min_length=1, json_schema_extra={"maxItems": CANDIDATES})]


class OthersReply(Reply):
    """What may take an entity's place."""

    others: Annotated[
        list[Annotated[str, Field(min_length=1)]], Field(min_length=1, json_schema_extra={"maxItems": 2 * CANDIDATES})
    ]


class ExtractionPrompts(PromptSet):
    """Questions about a text and its entities."""

    package = "checkers.extraction.prompts"

    def __init__(self) -> None:
        super().__init__()
        replies = (content for role, content in self._turns["entities"] if role == "assistant")
        self.example = {one.entity for reply in replies for one in EntitiesReply.model_validate_json(reply).entities}
        """Entities of the prompt's example, which small models copy."""

    def entities(self, text: str, under: str | None = None) -> Question[EntitiesReply]:
        """The entities of `text`; `under` is the prompt of the application that the subject works for."""
        given, task = {"text": text}, "extraction.entities"
        # Entities with their classes are seldom longer than the text that they stand in, figures aside.
        most = _LIST_TOKENS + 2 * len(text)
        return self._question(
            "entities", task, EntitiesReply, given, under=under, data={**given}, salvage="entities", max_tokens=most
        )

    def others(self, text: str, entity: str, kind: str, *, named: bool) -> Question[OthersReply]:
        """Other names of an entity's class, or synonyms for one that is no name; a class that is not known is empty."""
        name, most = "names" if named else "synonyms", _LIST_TOKENS + 2 * CANDIDATES * len(entity)
        texts, words = {"text": text, "class": kind or "(not known)", "expression": entity}, {"count": str(CANDIDATES)}
        return self._question(name, f"extraction.{name}", OthersReply, texts, words, max_tokens=most)

    def paraphrases(self, text: str, entities: Sequence[str]) -> Question[ParaphrasesReply]:
        """`text` in other words that keep its entities."""
        texts, words = {"entities": as_list(entities), "text": text}, {"count": str(CANDIDATES)}
        most = _LIST_TOKENS + CANDIDATES * len(text)
        return self._question("rewording", "extraction.paraphrase", ParaphrasesReply, texts, words, max_tokens=most)


_TRIED = 3
"""Answers at temperature 0 that must be the same."""


class Respondent:
    """The subject of one record."""

    def __init__(self, subject: Model, prompts: ExtractionPrompts, record: Extraction) -> None:
        self._subject = subject
        self._prompts = prompts
        self._under = record.prompt
        self.classes = {one.entity: one.kind for one in record.listed if one.kind}
        """By each entity that was extracted, as it was spelled first, the class that the subject gave it."""

    async def repeats(self, text: str, most: int) -> tuple[int, Answers]:
        """Answers about each text at most, with those about this one that were taken to know it.

        It is one if the subject's temperature is 0 and it said the same three times: many endpoints do not.
        """
        if getattr(self._subject, "temperature", None) != 0 or most <= _TRIED:
            return most, []
        tried = [one for number in range(_TRIED) for one in await self.extracted(text, 1, number)]
        is_steady = None not in tried and len({frozenset(one or ()) for one in tried}) == 1
        return (1, tried[:1]) if is_steady else (most, tried)

    async def of_the_text_itself(
        self, text: str, entities: Sequence[str], repeats: int, *, wholly: bool, known: Answers = ()
    ) -> Answers:
        """Answers about a text as it is, until it is certain which of the entities most of `repeats` name, or all.

        Raises as `extracted` does, and Undecidable if most answers cannot be read.
        """
        found = list(known)
        while more := repeats - len(found) if wholly else further([missing(entities, one) for one in found], repeats):
            found += await self.extracted(text, more, first=len(found))
        if 2 * found.count(None) >= len(found):
            detail = f"of {len(found)} answers of {self._subject.name} about the text, {found.count(None)}"
            raise Undecidable("subject_unusable", f"{detail} could not be read")
        return found

    async def extracted(self, text: str, count: int, first: int = 0) -> Answers:
        """So many answers about a text, numbered from `first` on; None for each that cannot be read.

        Raises Undecidable if the subject fails on the question, ModelUnavailable if its endpoint is down.
        """
        try:
            replies = await sample(self._subject, self._prompts.entities(text, self._under), count, first)
        except ModelFailed as error:
            raise Undecidable(error.cause_of_subject, f"{self._subject.name}: {error.detail}") from error
        for found in (found for one in replies if one is not None for found in one.entities):
            if found.kind.strip():
                self.classes.setdefault(found.entity, found.kind.strip())
        # A reply that loops names the same again and again.
        return [None if one is None else tuple(dict.fromkeys(each.entity for each in one.entities)) for one in replies]


def form_cases(method: str) -> Iterator[FormCase]:
    """Built-in cases: lists of entities, and names that may take their places."""
    prompts, moved = ExtractionPrompts(), "Milda Vasquez moved from Tarsk to Oberwald in 1987."
    owned = "The brig Corvina belongs to Haldane Shipping."
    for text, names in ((moved, {"Milda Vasquez", "Tarsk", "Oberwald"}), (owned, {"Corvina", "Haldane Shipping"})):
        has_all = partial(lambda names, reply: names <= {one.entity for one in reply.entities}, names)
        yield FormCase(method, "subject", prompts.entities(text), has_all)
    for name, kind in (("Milda Vasquez", "person"), ("Tarsk", "town")):
        are_others = partial(lambda name, reply: len({one for one in reply.others if name not in one}) > 1, name)
        yield FormCase(method, "writer", prompts.others(moved, name, kind, named=True), are_others)
