"""syn(e): a replacement for each entity (paper, section 3.1)."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from cachetools import LRUCache

from checkers.draws import generator, seed_of
from checkers.extraction.mentions import LEADING_ARTICLE, Located, bare, is_initials, words_of
from checkers.extraction.questions import ExtractionPrompts
from models.protocol import Model, ModelFailed
from models.work import gather_or_cancel
from schemas import Extraction
from schemas.extraction import TestedEntity

if TYPE_CHECKING:
    from faker import Faker


_LONGEST = 100
"""Characters of a name."""
_JOINTS = frozenset(',;:/|()[]{}"“”\n')
_MARKS = ' \t\n"“”*_`'
_PRONOUNS = frozenset("he her hers him his i it its me my our she their them they us we who you your".split())
_has_digit = re.compile(r"\d").search


def fits(candidate: str, entity: str, *, text: str, taken: frozenset[str]) -> bool:
    """True if the candidate may replace the entity of a text.

    It has the entity's shape, is not a list or an explanation, not a part or abbreviation of the entity, and none of
    its words is among `taken`, those of the text, of its entities and of what replaces them. A date or figure may
    keep its own words: another day of the same month.
    """
    own, words = words_of(entity), words_of(candidate)
    if not words or len(candidate) > _LONGEST or set(candidate) & _JOINTS - set(entity):
        return False
    if candidate.casefold() in text.casefold() or _apart(candidate, entity) is None:
        return False
    if _has_digit(entity):
        return words != own and not words & (taken - own)
    return not words & taken and not is_initials(candidate, entity) and not is_initials(entity, candidate)


def _apart(candidate: str, entity: str) -> int | None:
    """By how many words the candidate differs from the entity in length; None if it has another shape.

    A name takes the place of a name, what has no capital that of what has none, and figures are where figures were.
    """
    shape, own = _shape(candidate), _shape(entity)
    if "0" in shape or "0" in own:
        return 0 if shape == own else None
    apart = abs(len(shape) - len(own))
    return apart if apart <= 1 and ("A" in shape) == ("A" in own) else None


def _shape(text: str) -> list[str]:
    """For each word if it has a digit, a capital or neither."""
    return ["0" if _has_digit(word) else "A" if word != word.lower() else "a" for word in text.split()]


def _is_name(entity: str) -> bool:
    """True with a capital or a figure, or in a script that has no capitals."""
    return bool(_has_digit(entity)) or entity != entity.lower() or entity == entity.upper()


_KINDS = {
    "person": "per person human man woman character politician actor author artist player",
    "place": "loc location gpe place city town village country state county region province municipality capital",
    "organisation": "org organisation organization company business firm corporation institution manufacturer",
    "quantity": "date time year month day weekday period duration number figure quantity amount money price percent "
    "percentage cardinal ordinal measure measurement count age",
}
"""Words by which extractors call their classes."""

_FIGURE = re.compile(r"\d+")
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_MOST_NAMES = 40
"""Of Faker, for one entity."""


def kind_of(said: str) -> str | None:
    """The kind of a class as an extractor calls it: PER, person, "fictional person"."""
    words = {word.rstrip("s") for word in re.findall(r"[^\W_]+", said.casefold())} | {said.casefold()}
    return next((kind for kind, known in _KINDS.items() if words.intersection(known.split())), None)


def names_of_faker(entity: str, kind: str | None, draw: Random) -> Iterator[str]:
    """Names of that kind, as long as the entity; the same for the same draw and version of Faker."""
    faker, words = _faker(), len(entity.split())
    faker.seed_instance(draw.getrandbits(64))
    for _ in range(_MOST_NAMES):
        if kind == "person":
            yield " ".join([*(faker.first_name() for _ in range(words - 1)), faker.last_name()])
        elif kind == "place":
            yield ", ".join(faker.country() for _ in entity.split(", "))
        elif kind == "organisation":
            yield " ".join([*(faker.last_name() for _ in range(words - 1 or 1)), faker.company_suffix()])


@cache
def _faker() -> "Faker":
    # Slow to import, and most records need none.
    from faker import Faker

    return Faker("en_US")


def other_figures(entity: str, draw: Random) -> Iterator[str]:
    """Other dates and figures in the entity's own form: "May 3, 1871" for "May 25, 1844"."""
    for _ in range(_MOST_NAMES if _has_digit(entity) else 0):
        years = draw.randint(1, 40)
        yield _FIGURE.sub(lambda figure: _other(figure[0], years, draw), entity)  # noqa: B023 - called at once


def _other(written: str, years: int, draw: Random) -> str:
    """Another figure: an earlier year, by the same number in a span; a day that each month has; or other digits."""
    if _YEAR.fullmatch(written):
        return str(int(written) - years)
    if len(written) <= 2 and int(written) <= 31:
        return written if int(written) == 1 else str(draw.choice([n for n in range(2, 29) if n != int(written)]))
    kept = len(written.rstrip("0"))
    return "".join(draw.choice("23456789") if at < kept else "0" for at in range(len(written)))


_MOST_CLASSES, _MOST_SEEN = 2_000, 100
"""Classes, and the latest names of each."""
_MOST_REMEMBERED = 1_000
"""Records: one that comes again soon gets the same names, whatever has been seen in the meantime."""


class Names:
    """Finds replacements.

    A date or figure gets other digits, a name is replaced by one of its class that the same subject found in another
    text. The writer is asked about each that is left; where nothing that it answers fits, Faker gives persons, places
    and organisations.
    """

    def __init__(self, writer: Model | None, prompts: ExtractionPrompts) -> None:
        self._writer = writer
        self._prompts = prompts
        # By class, apart for each tenant, source and subject: no name of one is shown to another.
        self._seen: LRUCache[tuple[str | None, ...], LRUCache[str, None]] = LRUCache(_MOST_CLASSES)
        self._remembered: LRUCache[str, tuple[TestedEntity, ...]] = LRUCache(_MOST_REMEMBERED)

    def keep(self, record: Extraction, found: Iterable[tuple[str, str]]) -> None:
        """Keep what the subject found in the record's text, each name with its class, if it has one.

        A pronoun may be its entity, and reads badly where a name stood.
        """
        for name, kind in found:
            is_short = len(kind) <= _LONGEST and len(name) <= _LONGEST
            if kind and is_short and name in record.text and name.casefold() not in _PRONOUNS:
                names = self._seen.setdefault(self._key(record, kind), LRUCache(_MOST_SEEN))
                names[name] = None

    @staticmethod
    def _key(record: Extraction, kind: str) -> tuple[str | None, ...]:
        return record.tenant, record.source, record.model, kind.casefold()

    async def replacements(
        self, record: Extraction, located: Located, classes: dict[str, str], seed: str
    ) -> tuple[TestedEntity, ...]:
        """For `located.entities` as far as something fits, by the classes that the subject gave.

        Raises ModelFailed if the writer gives no answer and nothing fits anywhere, ModelUnavailable if it is down.
        """
        key = seed_of(seed, record.tenant, record.model, located.text, list(located.entities))
        if key in self._remembered:
            return self._remembered[key]
        known = {bare(one): kind for one, kind in reversed(classes.items())}
        said = {entity: known.get(bare(entity), "") for entity in located.entities}
        found: dict[str, TestedEntity] = {}
        taken = words_of(located.text, *located.entities, *(one.text for one in located.unreplaceable))

        def take(entity: str, candidates: Iterable[str], *, named: bool = True) -> None:
            """Take the first candidate that fits and has as many words as the entity, else the first that fits."""
            nonlocal taken
            article = LEADING_ARTICLE.match(entity)
            unmarked = (LEADING_ARTICLE.sub("", " ".join(one.split()).strip(_MARKS)) for one in candidates)
            made = [f"{article[0] if article else ''}{one}" for one in unmarked if one and entity not in found]
            fit = [one for one in made if fits(one, entity, text=located.text, taken=taken)]
            if fit:
                best = min(fit, key=lambda one: _apart(one, entity) or 0)
                found[entity] = TestedEntity(text=entity, replacement=best, named=named)
                taken |= words_of(best)

        for entity in located.entities:
            is_figure = kind_of(said[entity]) == "quantity"
            if is_figure or _has_digit(entity):
                take(entity, other_figures(entity, generator(seed, f"other {entity}")))
            if is_figure or _is_name(entity):
                names = list(self._seen.get(self._key(record, said[entity]), ()))
                take(entity, generator(seed, f"seen {entity}").sample(names, len(names)))
        left = [entity for entity in located.entities if entity not in found]
        answers = await gather_or_cancel(self._asked(located.text, one, said[one]) for one in left)
        for entity, others in zip(left, answers, strict=True):
            take(entity, () if isinstance(others, ModelFailed) else others, named=_is_name(entity))
        for entity in [one for one in left if one not in found]:
            take(entity, names_of_faker(entity, kind_of(said[entity]), generator(seed, f"invented {entity}")))
        if not found and (failures := [one for one in answers if isinstance(one, ModelFailed)]):
            raise failures[0]
        self._remembered[key] = tuple(found[entity] for entity in located.entities if entity in found)
        return self._remembered[key]

    async def _asked(self, text: str, entity: str, said: str) -> list[str] | ModelFailed:
        """What the writer answers, or that it gives no answer; nothing without a writer."""
        if self._writer is None:
            return []
        try:
            question = self._prompts.others(text, entity, said, named=_is_name(entity))
            return (await self._writer.ask(question)).reply.others
        except ModelFailed as error:
            return error
