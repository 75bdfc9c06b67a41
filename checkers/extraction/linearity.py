"""The linearity test: f(x xor y) = f(x) xnor f(y) on random vectors (paper, section 3).

A vector has a bit for each entity and is kept as an integer, the first entity in the lowest bit. In v, 1 means that the
entity is replaced in the sentence R(v). In u = f(v), 0 means that the entity's replacement was extracted from it. Of an
ideal extraction f(v) = not v.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

Vector = int

Reading = int | None
"""u of one answer, and in the bits above it a 1 for each entity that was not extracted itself; None if the answer could
not be read."""

Samples = Sequence[Reading]
"""The answers about one sentence, in the order in which they came."""

Rule = Literal["lenient", "strict"]
"""The reading of a test with several answers a sentence: `lenient` passes it if any combination of answers does,
`strict` takes the majority of each sentence's answers, entity by entity."""

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
    """The outcome of a test, and the values of f that it rests on."""

    __test__ = False

    test: LinearityTest
    outcome: Outcome
    values: tuple[Reading, Reading, Reading]
    """f of the test's vectors. By the strict rule the majorities; by the lenient one the combination with the fewest
    wrong bits, of several the one that was complete first."""


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


def result_of(test: LinearityTest, samples: Sequence[Samples], rule: Rule, mask: Vector) -> TestResult:
    """The result of a test from the answers about each of its three sentences."""
    firsts = [{majority(one): 0} if rule == "strict" else _first_at(one) for one in samples]

    def order(values: tuple[Reading, ...]) -> tuple[int, ...]:
        known = [u for u in values if u is not None]
        at = [first[u] for first, u in zip(firsts, values, strict=True)]
        return wrong_bits(known, mask).bit_count() if len(known) == len(values) else 0, max(at), *at

    of_x, of_y, of_xor = min(itertools.product(*firsts), key=order)
    return TestResult(test, _outcome((of_x, of_y, of_xor), mask), (of_x, of_y, of_xor))


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


def _outcome(values: Sequence[Reading], mask: Vector) -> Outcome:
    known = [u for u in values if u is not None]
    if len(known) < len(values):
        return "unusable"
    return "failed" if wrong_bits(known, mask) else "passed"


def _first_at(samples: Samples) -> dict[Reading, int]:
    """Each value with the number of the answer that gave it first; if no answer could be read, that."""
    return {u: number for number, u in reversed([*enumerate(samples)]) if u is not None} or {None: 0}
