"""Answers read: from what was extracted to u = f(v), and what the vectors do not show."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from checkers.extraction.linearity import Reading, Vector
from checkers.extraction.mentions import same_entity

Extracted = tuple[str, ...]
"""One answer: the entities that were extracted from a sentence."""

Answers = Sequence[Extracted | None]
"""The answers about one sentence; None for each that could not be read."""


# The same names come again in every answer about a text.
_same = lru_cache(maxsize=50_000)(same_entity)


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
        """u: a 0 for each replacement that was extracted, whatever the sentence."""
        if extracted is None:
            return None
        u = self.mask
        for j, replacement in enumerate(self.replacements):
            if is_among(replacement, extracted):
                u &= ~(1 << j)
        return u


def is_among(entity: str, extracted: Iterable[str]) -> bool:
    """True if the entity was extracted, in whatever spelling."""
    return any(entity == one or _same(entity, one) for one in extracted)


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something was found, of how many answers."""

    times: int
    answers: int


def named(pairs: Pairs, answers: Mapping[Vector, Answers]) -> tuple[list[Tally], list[Tally]]:
    """For each entity how often it was extracted where it stands, and its replacement where that does."""
    sides = []
    for replaced in (0, 1):
        tallies = []
        for j in range(len(pairs.entities)):
            known = [(v, one) for v, one in _read(answers) if v >> j & 1 == replaced]
            tallies.append(Tally(sum(is_among(pairs.standing(v)[j], one) for v, one in known), len(known)))
        sides.append(tallies)
    return sides[0], sides[1]


def extra(pairs: Pairs, answers: Mapping[Vector, Answers]) -> dict[str, Tally]:
    """What was extracted beside what stands in the entities' places, the most frequent first."""
    counts: Counter[str] = Counter()
    known = _read(answers)
    for v, one in known:
        standing = pairs.standing(v)
        counts.update({entity for entity in one if not is_among(entity, standing)})
    return {entity: Tally(times, len(known)) for entity, times in counts.most_common()}


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
    """How many answers gave the most frequent list; 0 if none could be read."""
    return max((count for one, count in groups(answers) if one is not None), default=0)


def _read(answers: Mapping[Vector, Answers]) -> list[tuple[Vector, Extracted]]:
    return [(v, one) for v, known in answers.items() for one in known if one is not None]
