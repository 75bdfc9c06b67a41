"""The linearity test: f(x xor y) = f(x) xnor f(y) on random vectors (paper, section 3).

A vector has a bit for each entity and is kept as an integer, the first entity in the lowest bit. In v, 1 means that the
entity is replaced in the sentence R(v). In u = f(v), 0 means that the entity's replacement was extracted from it. Of an
ideal extraction f(v) = not v.

By the paper a test is passed if any combination of the answers about its sentences passes it; `lenient` takes that one.
Else each sentence has the majority of its answers, entity by entity, and `needed` asks for as few as decide.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from checkers.extraction.mentions import bare
from schemas import EntityCount

Vector = int

Reading = int | None
"""u of one answer, and in the bits above it a 1 for each entity that was not extracted itself; None if the answer could
not be read."""

Samples = Sequence[Reading]
"""The answers about one sentence, in the order in which they came."""

Outcome = Literal["passed", "failed", "unusable"]
"""`unusable`: the answers that would decide could not be read."""


@dataclass(frozen=True, slots=True)
class LinearityTest:
    """Three sentences: R(x), R(y) and R(x xor y)."""

    x: Vector
    y: Vector

    @property
    def vectors(self) -> tuple[Vector, Vector, Vector]:
        return self.x, self.y, self.x ^ self.y


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of a test, and the values of f that it depends on."""

    __test__ = False

    test: LinearityTest
    outcome: Outcome
    values: tuple[Reading, Reading, Reading]
    """f of the test's vectors: the majorities, or the combination of answers with the fewest wrong bits."""
    answers: tuple["Answers", ...] = ()
    """About its three sentences."""


def draw_tests(entities: int, count: int, draw: Random) -> list[LinearityTest]:
    """`count` tests with x and y drawn uniformly, but that each entity is replaced in one of them at least."""
    vectors = [0] * (2 * count)
    for j in range(entities):
        column = 0
        while not column:
            column = draw.getrandbits(2 * count)
        vectors = [v | (column >> place & 1) << j for place, v in enumerate(vectors)]
    return [LinearityTest(x, y) for x, y in zip(vectors[::2], vectors[1::2], strict=True)]


def xnor(first: Vector, second: Vector, mask: Vector) -> Vector:
    """The bits in which two vectors agree; `mask` has a 1 for each entity."""
    return ~(first ^ second) & mask


def wrong_bits(values: Sequence[Vector], mask: Vector) -> Vector:
    """The entities in which f(x xor y) is not f(x) xnor f(y), as a vector; 0 if the combination passes."""
    of_x, of_y, of_xor = values
    return (of_xor & mask) ^ xnor(of_x, of_y, mask)


def majority(samples: Samples) -> Reading:
    """For each entity what most answers say, 1 if they are divided; None if only half or fewer could be read."""
    known = [u for u in samples if u is not None]
    if 2 * len(known) <= len(samples):
        return None
    ones = [sum(u >> j & 1 for u in known) for j in range(max(known).bit_length())]
    return sum(1 << j for j, count in enumerate(ones) if 2 * count >= len(known))


def result_of(test: LinearityTest, samples: Sequence[Samples], mask: Vector, *, lenient: bool = False) -> TestResult:
    """The result of a test from the answers about each of its three sentences."""
    choices = [_readable(one) if lenient else (majority(one),) for one in samples]

    def faults(values: tuple[Reading, ...]) -> int:
        known = [u for u in values if u is not None]
        return wrong_bits(known, mask).bit_count() if len(known) == len(values) else 0

    of_x, of_y, of_xor = values = min(itertools.product(*choices), key=faults)
    outcome: Outcome = "unusable" if None in values else "failed" if faults(values) else "passed"
    return TestResult(test, outcome, (of_x, of_y, of_xor))


def _readable(samples: Samples) -> Samples:
    """Each value once; if no answer could be read, that."""
    return list(dict.fromkeys(u for u in samples if u is not None)) or [None]


def passing_combinations(samples: Sequence[Samples], mask: Vector) -> int:
    """The number of the k^3 combinations of answers that pass; those with an answer that could not be read do not."""
    of_x, of_y, of_xor = (Counter(u & mask for u in one if u is not None) for one in samples)
    return sum(n * m * of_xor[xnor(a, b, mask)] for a, n in of_x.items() for b, m in of_y.items())


def rejection_probability(epsilon: float, tests: int) -> float:
    """The least probability that one of so many tests fails if f is `epsilon`-far from linear (theorems 3.1, 3.2)."""
    fails = 3 * epsilon - 6 * epsilon**2 if epsilon <= 0.25 else 2 / 9
    return 1 - (1 - fails) ** tests


def error_bound(epsilon: float, tests: int, entities: int) -> float:
    """The greatest probability that a single-valued f that is `epsilon`-far passes the tests of `draw_tests`.

    Draws that never replace some entity, which of each is one in 4^tests, are drawn again, and counted in here.
    """
    return min(1.0, (1 - rejection_probability(epsilon, tests)) / (1 - 4.0**-tests) ** entities)


def strays(results: Iterable[TestResult], mask: Vector) -> Vector:
    """The entities that are lost in some sentence, they themselves or their replacements, as a vector.

    A subject that never names a replacement, or never what is not replaced, is linear and passes every test.
    """
    found = 0
    for v, u in _values(results).items():
        found |= (u ^ ~v | u >> mask.bit_length() & ~v) & mask
    return found


def ideal_share(results: Iterable[TestResult], mask: Vector) -> float | None:
    """The share of the sentences, each counted once, with f(v) = not v; None if none was read."""
    known = _values(results)
    return sum(u & mask == ~v & mask for v, u in known.items()) / len(known) if known else None


def _values(results: Iterable[TestResult]) -> dict[Vector, Vector]:
    return {v: u for one in results for v, u in zip(one.test.vectors, one.values, strict=True) if u is not None}


_ALL = (1 << 64) - 1
"""A 1 for each of more entities than there are."""


def needed(test: LinearityTest, answers: Mapping[Vector, Samples], repeats: int) -> dict[Vector, int]:
    """By sentence the number of answers to know next; empty once no further answer can change the test's outcome."""
    samples = [answers[v] for v in test.vectors]
    left = [further(known, repeats) for known in samples]
    if None in [majority(known) for known, more in zip(samples, left, strict=True) if not more]:
        return {}
    return {v: len(known) + more for v, known, more in zip(test.vectors, samples, left, strict=True) if more}


def further(samples: Samples, repeats: int) -> int:
    """The answers to be taken next: more than half of `repeats`, then the others if those could change the majority."""
    more, left = repeats // 2 + 1 - len(samples), repeats - len(samples)
    might = {majority([*samples, *[u] * left]) for u in (0, _ALL, None)}
    return more if more > 0 else left * (len(might) > 1)


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

    def in_places(self, v: Vector) -> tuple[str, ...]:
        """For each entity what is in its place in R(v): itself, or its replacement."""
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
        known = [is_among(pairs.in_places(v)[j], one) for v, one in _read(answers) if v >> j & 1 == replaced]
        return EntityCount(entity=pairs.entities[j], times=sum(known), answers=len(known))

    places = range(len(pairs.entities))
    return [counted(j, replaced=False) for j in places], [counted(j, replaced=True) for j in places]


def extra(pairs: Pairs, answers: Mapping[Vector, Answers]) -> list[EntityCount]:
    """Entities extracted next to those that stand in the entities' places, the most frequent first."""
    counts: Counter[str] = Counter()
    known = _read(answers)
    for v, one in known:
        there = pairs.in_places(v)
        counts.update({entity for entity in one if not is_among(entity, there)})
    return [EntityCount(entity=entity, times=times, answers=len(known)) for entity, times in counts.most_common()]


def groups(answers: Answers) -> list[tuple[Extracted | None, int]]:
    """Equal lists of entities, whatever their order and case, with their number; the most frequent first.

    Answers that could not be read are their own group.
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
