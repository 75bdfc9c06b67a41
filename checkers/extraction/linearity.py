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
"""u of one answer; None if the answer could not be read."""

Samples = Sequence[Reading]
"""The answers about one sentence, in the order in which they came."""

Rule = Literal["lenient", "strict"]
"""The reading of a test with several answers a sentence: `lenient` passes it if any combination of answers does,
`strict` takes the majority of each sentence's answers."""

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
    """`count` tests with x and y drawn uniformly; at least one of them replaces something.

    Raises:
        ValueError: there is no entity, or no test.
    """
    if entities < 1 or count < 1:
        raise ValueError(f"{count} tests of {entities} entities: both must be at least 1")
    while True:
        tests = [LinearityTest(draw.getrandbits(entities), draw.getrandbits(entities)) for _ in range(count)]
        if any(test.x or test.y for test in tests):
            return tests


def xnor(first: Vector, second: Vector, mask: Vector) -> Vector:
    """The bits in which two vectors agree; `mask` has a 1 for each entity."""
    return ~(first ^ second) & mask


def wrong_bits(values: Sequence[Vector], mask: Vector) -> Vector:
    """The entities in which f(x xor y) is not f(x) xnor f(y), as a vector; 0 if the combination passes."""
    of_x, of_y, of_xor = values
    return of_xor ^ xnor(of_x, of_y, mask)


def majority(samples: Samples) -> Reading:
    """The most frequent answer, those that could not be read being one; of equally frequent ones the first."""
    (winner, _), *_ = Counter(samples).most_common(1)
    return winner


def result_of(test: LinearityTest, samples: Sequence[Samples], rule: Rule, mask: Vector) -> TestResult:
    """The result of a test from the answers about each of its three sentences."""
    if rule == "strict":
        of_x, of_y, of_xor = (majority(one) for one in samples)
        return TestResult(test, _outcome((of_x, of_y, of_xor), mask), (of_x, of_y, of_xor))
    firsts = [_first_at(one) for one in samples]

    def order(values: tuple[Reading, ...]) -> tuple[int, ...]:
        known = [u for u in values if u is not None]
        at = [first[u] for first, u in zip(firsts, values, strict=True)]
        return wrong_bits(known, mask).bit_count() if len(known) == len(values) else 0, max(at), *at

    of_x, of_y, of_xor = min(itertools.product(*firsts), key=order)
    return TestResult(test, _outcome((of_x, of_y, of_xor), mask), (of_x, of_y, of_xor))


def passing_combinations(samples: Sequence[Samples], mask: Vector) -> int:
    """The number of the k^3 combinations of answers that pass; those with an answer that could not be read do not."""
    of_x, of_y, of_xor = ({u: n for u, n in Counter(one).items() if u is not None} for one in samples)
    return sum(n * m * of_xor.get(xnor(a, b, mask), 0) for a, n in of_x.items() for b, m in of_y.items())


def failing_probability(epsilon: float) -> float:
    """The least probability that one test fails if f is `epsilon`-far from every linear function (theorem 3.1)."""
    return 3 * epsilon - 6 * epsilon**2 if epsilon <= 0.25 else 2 / 9


def rejection_probability(epsilon: float, tests: int) -> float:
    """The least probability that one of so many tests fails if a single-valued f is `epsilon`-far (theorem 3.2)."""
    return 1 - (1 - failing_probability(epsilon)) ** tests


def error_bound(epsilon: float, tests: int, entities: int) -> float:
    """The greatest probability that a single-valued f that is `epsilon`-far passes the tests of `draw_tests`.

    Draws that replace nothing are drawn again, which for one entity is one in 4^tests, and counted in here.
    """
    return min(1.0, (1 - rejection_probability(epsilon, tests)) / (1 - 4.0 ** -(entities * tests)))


def never_names(results: Iterable[TestResult]) -> bool:
    """True if no replacement was named in any sentence that had one: f is constantly all ones there.

    Such a function is linear and passes every test, so it is looked for apart.
    """
    pairs = [(v, u) for one in results for v, u in zip(one.test.vectors, one.values, strict=True) if v]
    return all(u is None or u & v == v for v, u in pairs)


def ideal_share(results: Iterable[TestResult], mask: Vector) -> float | None:
    """The share of the sentences, each counted once, with f(v) = not v; None if none was read."""
    known = {v: u for one in results for v, u in zip(one.test.vectors, one.values, strict=True) if u is not None}
    return sum(u == ~v & mask for v, u in known.items()) / len(known) if known else None


def _outcome(values: Sequence[Reading], mask: Vector) -> Outcome:
    known = [u for u in values if u is not None]
    if len(known) < len(values):
        return "unusable"
    return "failed" if wrong_bits(known, mask) else "passed"


def _first_at(samples: Samples) -> dict[Reading, int]:
    """Each value with the number of the answer that gave it first; if no answer could be read, that."""
    found: dict[Reading, int] = {}
    for number, u in enumerate(samples):
        if u is not None:
            found.setdefault(u, number)
    return found or {None: 0}
