"""Answers read: from what was extracted to u = f(v), and what the vectors do not show."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from checkers.extraction.linearity import Reading, Vector
from checkers.extraction.mentions import bare
from schemas import EntityCount

Extracted = tuple[str, ...]
"""One answer: the entities that were extracted from a sentence."""

Answers = Sequence[Extracted | None]
"""The answers about one sentence; None for each that could not be read."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The tested entities and their replacements, in the order of the vectors' bits."""

    entities: tuple[str, ...]
    replacements: tuple[str, ...]

    @property
    def mask(self) -> Vector:
        """A 1 for each entity."""
        return (1 << len(self.entities)) - 1

    def standing(self, v: Vector) -> tuple[str, ...]:
        """For each entity what stands in R(v) in its place: itself, or its replacement."""
        pairs = zip(self.entities, self.replacements, strict=True)
        return tuple(other if v >> j & 1 else entity for j, (entity, other) in enumerate(pairs))

    def read(self, extracted: Extracted | None) -> Reading:
        """u: a 0 for each replacement that was extracted, whatever the sentence; above it the same of the entities."""
        return missing((*self.replacements, *self.entities), extracted)


def missing(entities: Iterable[str], extracted: Extracted | None) -> Reading:
    """A 1 for each of the entities that was not extracted."""
    if extracted is None:
        return None
    return sum(1 << j for j, entity in enumerate(entities) if not is_among(entity, extracted))


def is_among(entity: str, extracted: Iterable[str]) -> bool:
    """True if the entity was extracted, in whatever spelling."""
    return any(bare(entity) == bare(one) for one in extracted)


def named(pairs: Pairs, answers: Mapping[Vector, Answers]) -> tuple[list[EntityCount], list[EntityCount]]:
    """Counts of each entity extracted where it stands, and of its replacement where that does."""

    def counted(j: int, *, replaced: bool) -> EntityCount:
        known = [is_among(pairs.standing(v)[j], one) for v, one in _read(answers) if v >> j & 1 == replaced]
        return EntityCount(entity=pairs.entities[j], times=sum(known), answers=len(known))

    places = range(len(pairs.entities))
    return [counted(j, replaced=False) for j in places], [counted(j, replaced=True) for j in places]


def extra(pairs: Pairs, answers: Mapping[Vector, Answers]) -> list[EntityCount]:
    """Entities extracted beside those that stand in the entities' places, the most frequent first."""
    counts: Counter[str] = Counter()
    known = _read(answers)
    for v, one in known:
        standing = pairs.standing(v)
        counts.update({entity for entity in one if not is_among(entity, standing)})
    return [EntityCount(entity=entity, times=times, answers=len(known)) for entity, times in counts.most_common()]


def groups(answers: Answers) -> list[tuple[Extracted | None, int]]:
    """Equal lists of entities, whatever their order and case, with their number; the most frequent first.

    Answers that could not be read are a group of their own.
    """
    firsts: dict[frozenset[str] | None, Extracted | None] = {}
    counts: Counter[frozenset[str] | None] = Counter()
    for one in answers:
        key = None if one is None else frozenset(" ".join(entity.split()).casefold() for entity in one)
        firsts.setdefault(key, one)
        counts[key] += 1
    return [(firsts[key], count) for key, count in counts.most_common()]


def consistency(answers: Answers) -> int:
    """The number of answers that gave the most frequent list; 0 if none could be read."""
    return max((count for one, count in groups(answers) if one is not None), default=0)


def _read(answers: Mapping[Vector, Answers]) -> list[tuple[Vector, Extracted]]:
    return [(v, one) for v, known in answers.items() for one in known if one is not None]
