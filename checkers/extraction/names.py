"""A replacement for each entity: from the traffic, from the judge, or invented (paper, appendix A.2)."""

from collections.abc import Iterable, Mapping

from cachetools import LRUCache

from checkers.checker import Undecidable
from checkers.draws import generator, seed_of
from checkers.extraction.entity_questions import ExtractionPrompts
from checkers.extraction.fitting import LONGEST, fits, has_digit, in_form_of, is_like, is_name
from checkers.extraction.invented_names import invented, kind_of
from checkers.extraction.mentions import Located, words_of
from models.protocol import Model, ModelFailed
from schemas import Extraction, TestedEntity

_MOST_CLASSES = 2_000
_MOST_NAMES = 100
"""The latest names of a class."""

_Class = tuple[str | None, str, str, str]


class SeenNames:
    """By class, apart for each tenant, source and subject: no name of one is shown to another."""

    def __init__(self) -> None:
        self._names: LRUCache[_Class, dict[str, None]] = LRUCache(_MOST_CLASSES)

    def add(self, record: Extraction, found: Iterable[tuple[str, str]]) -> None:
        """Keep what the subject found in the record's text, each name with its class; what has none is left out."""
        for name, kind in found:
            if kind and len(kind) <= LONGEST and len(name) <= LONGEST and name in record.text:
                names = self._names.setdefault(_class(record, kind), {})
                names.pop(name, None)
                names[name] = None
                if len(names) > _MOST_NAMES:
                    del names[next(iter(names))]

    def like(self, record: Extraction, kind: str) -> list[str]:
        """Names of a class, the latest last; none if the class is empty."""
        return list(self._names.get(_class(record, kind), ())) if kind else []


def _class(record: Extraction, kind: str) -> _Class:
    return record.tenant, record.source, record.model, kind.casefold()


_MOST_REMEMBERED = 1_000
"""Records: one that comes again soon gets the same names, whatever has been seen in the meantime."""


class Names:
    """Finds replacements.

    A date or figure gets other digits, a name is replaced by one of its class that the same subject found in another
    text. For all that is left the judge is asked once; where nothing that it answers fits, persons, places and
    organisations are invented.
    """

    def __init__(self, judge: Model | None, prompts: ExtractionPrompts, seen: SeenNames) -> None:
        """Without a `judge` that reads prompts, seen and invented names have to do."""
        self._judge = judge
        self._prompts = prompts
        self._seen = seen
        self._remembered: LRUCache[str, tuple[TestedEntity, ...]] = LRUCache(_MOST_REMEMBERED)

    async def replacements(
        self, record: Extraction, located: Located, classes: Mapping[str, str], seed: str
    ) -> tuple[TestedEntity, ...]:
        """One for each of `located.entities`, by the class that `classes` has of it; none shares a word with another.

        Raises:
            Undecidable: `no_replacement`, nothing fits in an entity's place.
            ModelFailed: the judge gives no answer, and nothing can be invented either.
            ModelUnavailable: the judge's endpoint is down.
        """
        key = seed_of(seed, record.tenant, record.model, located.text, list(located.entities))
        if key not in self._remembered:
            self._remembered[key] = await self._found(record, located, classes, seed)
        return self._remembered[key]

    async def _found(
        self, record: Extraction, located: Located, classes: Mapping[str, str], seed: str
    ) -> tuple[TestedEntity, ...]:
        search = _Search(located)
        for entity in located.entities:
            said = classes.get(entity, "")
            if has_digit(entity):
                search.take(entity, invented(entity, said, seed), named=True)
            if entity in search.left and (is_name(entity) or kind_of(said) == "quantity"):
                names = self._seen.like(record, said)
                search.take(entity, generator(seed, f"seen {entity}").sample(names, len(names)), named=True)
        failure = None if self._judge is None else await self._asked(self._judge, search, classes)
        for entity in search.left:
            search.take(entity, invented(entity, classes.get(entity, ""), seed), named=True)
        if search.left and failure is not None:
            raise failure
        if search.left:
            of, why = classes.get(search.left[0]), "nothing that the judge proposed fits in its place"
            if self._judge is None:
                seen = f"no other name of its class, “{of}”, has been seen" if of else "its subject gives it no class"
                why = f"{seen}, and there is no model that writes: the local judge does not"
            raise Undecidable("no_replacement", f"“{search.left[0]}” cannot be replaced: {why}")
        return tuple(search.found[entity] for entity in located.entities)

    async def _asked(self, judge: Model, search: "_Search", classes: Mapping[str, str]) -> ModelFailed | None:
        """Ask the judge for what is left; returns the failure if it gives no answer."""
        if not search.left:
            return None
        question = self._prompts.names(search.text, {entity: classes.get(entity, "") for entity in search.left})
        try:
            reply = (await judge.ask(question)).reply
        except ModelFailed as error:
            return error
        for one in reply.replacements:
            if one.entity in search.left:
                search.take(one.entity, [other.text for other in one.candidates if other.fits], named=one.named)
        return None


class _Search:
    """Replacements found so far for the entities of one text."""

    def __init__(self, located: Located) -> None:
        self.found: dict[str, TestedEntity] = {}
        self.text = located.text
        self._entities = located.entities
        self._taken = words_of(located.text, *located.entities, *(entity for entity, _ in located.unreplaceable))

    @property
    def left(self) -> list[str]:
        """Entities without a replacement."""
        return [entity for entity in self._entities if entity not in self.found]

    def take(self, entity: str, candidates: Iterable[str], *, named: bool) -> None:
        """Take the first candidate that fits and has as many words as the entity, else the first that fits."""
        made = [in_form_of(candidate, entity, named=named) for candidate in candidates]
        fit = [one for one in made if fits(one, entity, text=self.text, taken=self._taken)]
        if fit:
            best = min(fit, key=lambda one: is_like(one, entity) or 0)
            self.found[entity] = TestedEntity(text=entity, replacement=best, named=named)
            self._taken |= words_of(best)
