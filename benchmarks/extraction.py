"""The extraction checker next to its paper.

    python -m benchmarks.extraction [--runs 10000]

`simulated`: extractors that are linear, at a known distance from it, or noisy in a known way: how often each is
accepted and rejected, next to the bound of theorem 3.1, and the answers that the schedule `fast` takes.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random

from benchmarks.running import Part, run_parts
from benchmarks.tables import table
from checkers.extraction.checker import ExtractionSettings
from checkers.extraction.evidence import causes, not_given
from checkers.extraction.linearity import (
    Extracted,
    LinearityTest,
    Reading,
    Result,
    Tried,
    Vector,
    draw_tests,
    further,
    majority,
    needed,
    rejection_probability,
    result_of,
)
from checkers.extraction.mentions import Located, missing

ENTITIES = 4
"""As many as the paper's sentences have on average (18,636 in 5,000), rounded."""
REPEATS = ExtractionSettings().repeats
TESTS = ExtractionSettings().tests_of(ENTITIES, REPEATS)
FULL = (3 * TESTS + 1) * REPEATS

_NAMES = ("Ada Okafor", "Lagos", "Turin", "Fermata")


class _Known(Located):
    """Reads the same answer once."""

    def sentence(self, v: Vector) -> str:
        return "; ".join(_in_places(v))

    def read(self, extracted: Sequence[str] | None) -> Reading:
        return _read(None if extracted is None else tuple(extracted))


_PAIRS = _Known("", _NAMES, (), (), ("Ines Varga", "Bergen", "Porto", "Novitas"))
_VECTORS = 1 << ENTITIES
_DEVIATIONS = 3
_MOST_TAKEN = 0.4

Draw = Callable[[Vector, Random], Extracted]
"""One answer about R(v)."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A simulated extractor."""

    name: str
    make: Callable[[Random], Draw]
    """A new one for each run."""
    epsilon: float | None = None
    """At least so far from linear, 0 for a linear one; None where the distance is another in each run."""
    rejects: bool = False
    """A linear one is rejected all the same, for what it does not give."""


@cache
def _in_places(v: Vector) -> Extracted:
    return _PAIRS.in_places(v)


def _ideal(_: Random) -> Draw:
    return lambda v, _: _in_places(v)


def _far(epsilon: float) -> Callable[[Random], Draw]:
    """Another value than the ideal one for that share of all vectors, rounded up: as far as that from any linear f.

    Two linear functions differ on half of all vectors at least, so up to 1/4 the ideal one stays the nearest.
    """

    def make(random: Random) -> Draw:
        moved = random.sample(range(_VECTORS), math.ceil(epsilon * _VECTORS))
        flips = {v: random.randrange(1, _VECTORS) for v in moved}

        def draw(v: Vector, _: Random) -> Extracted:
            u = ~v & _PAIRS.mask ^ flips.get(v, 0)
            kept = (entity for j, entity in enumerate(_PAIRS.entities) if not v >> j & 1)
            return (*kept, *(other for j, other in enumerate(_PAIRS.replacements) if not u >> j & 1))

        return draw

    return make


def _weak(probability: float) -> Callable[[Random], Draw]:
    def draw(v: Vector, random: Random) -> Extracted:
        first, *others = _in_places(v)
        return (first, *others) if random.random() < probability else tuple(others)

    return lambda _: draw


def _multi_form(change: Callable[[Extracted], Extracted]) -> Callable[[Random], Draw]:
    """In half of the sentences, always the same ones within a run, an entity has another form."""

    def make(random: Random) -> Draw:
        changed = random.getrandbits(_VECTORS)
        return lambda v, _: change(_in_places(v)) if changed >> v & 1 else _in_places(v)

    return make


def _by_heart(there: Extracted, v: Vector) -> Extracted:
    return tuple(one for j, one in enumerate(there) if not v >> j & 1)


def _always(change: Callable[[Extracted, Vector], Extracted]) -> Callable[[Random], Draw]:
    """What is in the text, changed."""
    return lambda _: lambda v, _: change(_in_places(v), v)


SUBJECTS = (
    Subject("is linear and ideal", _ideal, 0),
    *(Subject(f"is {epsilon:g}-far from linear", _far(epsilon), epsilon) for epsilon in (0.05, 0.1, 0.25)),
    *(Subject(f"names an entity with probability {p:g}", _weak(p)) for p in (0.5, 0.7, 0.9)),
    Subject(
        "merges two entities in half of the texts",
        _multi_form(lambda there: (f"{there[1]} and {there[2]}", there[0], *there[3:])),
    ),
    Subject("splits an entity in half of the texts", _multi_form(lambda there: (*there[0].split(), *there[1:]))),
    Subject("finds an entity only next to another", _always(lambda there, v: there[1:] if v & 0b10 else there), 0.25),
    Subject("knows all names by heart", _always(_by_heart), 0, rejects=True),
    Subject("never gives one of the list", _always(lambda there, _: there[1:]), 0, rejects=True),
    Subject("adds an entity", _always(lambda there, _: (*there, "Atlantis")), 0),
)


@dataclass(slots=True)
class Found:
    """The runs of one subject."""

    rejected: int = 0
    differing: int = 0
    """Runs in which the two schedules decide otherwise."""
    taken: int = 0
    """Answers of the sequential schedule."""
    least: float = 0.0
    """The sum of the least probabilities of a rejection, by the distance of f in each run."""


@lru_cache(maxsize=10_000)
def _read(extracted: Extracted | None) -> Reading:
    return Located.read(_PAIRS, extracted)


class _Table(defaultdict[Vector, list[Extracted | None]]):
    """The answers of one run."""

    def __init__(self, draw: Draw, random: Random) -> None:
        super().__init__(list)
        self._draw = draw
        self._random = random

    def about(self, v: Vector, count: int = REPEATS) -> list[Extracted | None]:
        known = self[v]
        while len(known) < count:
            known.append(self._draw(v, self._random))
        return known[:count]


def simulate(subject: Subject, *, runs: int, tests: int = TESTS) -> Found:
    """So many runs of both schedules."""
    found = Found()
    for number in range(runs):
        random = Random(f"{subject.name}/{number}")
        drawn = draw_tests(ENTITIES, tests, random)
        answers = _Table(subject.make(random), random)
        taken, rejected = _decided(drawn, answers)
        found.differing += rejected != _decided_fully(drawn, answers)
        found.rejected += rejected
        found.taken += taken
        epsilon = _distance(answers) if subject.epsilon is None else subject.epsilon
        found.least += rejection_probability(epsilon, tests) if epsilon else 0.0
    return found


def _decided(drawn: Sequence[LinearityTest], answers: _Table) -> tuple[int, bool]:
    """How many answers the checker takes, and whether it rejects."""
    untouched: list[Extracted | None] = []
    while more := further([missing(_PAIRS.entities, one) for one in untouched], REPEATS):
        untouched = answers.about(0, len(untouched) + more)
    if not_given("not_given", _PAIRS.entities, untouched):
        return len(untouched), True
    taken: dict[Vector, list[Extracted | None]] = defaultdict(list, {0: untouched})
    results: list[Result] = []
    for test in drawn:
        while wanted := needed(test, {v: [_read(one) for one in taken[v]] for v in test}, REPEATS):
            taken |= {v: answers.about(v, count) for v, count in wanted.items()}
        results.append(result_of(test, [taken[v] for v in test], _PAIRS))
        if results[-1].outcome == "failed":
            break
    found = causes(Tried(_PAIRS, results, taken), ())
    return sum(map(len, taken.values())), bool(found)


def _decided_fully(drawn: Sequence[LinearityTest], answers: _Table) -> bool:
    """True if the checker rejects by all answers to all tests."""
    results = [result_of(test, [answers.about(v) for v in test], _PAIRS) for test in drawn]
    lost = not_given("not_given", _PAIRS.entities, answers.about(0))
    return bool(lost or causes(Tried(_PAIRS, results, answers), ()))


@cache
def _linear() -> list[int]:
    """The table of each linear function of one bit, a digit for each vector."""
    return [sum(((a & v).bit_count() & 1) << v for v in range(_VECTORS)) for a in range(_VECTORS)]


def _distance(answers: _Table) -> float:
    """The greatest distance of a bit of f, by the majorities of all texts, from linear: f is at least so far."""
    values = [majority([_read(one) for one in answers.about(v)]) for v in range(_VECTORS)]
    bits = [sum((u is not None and not u >> j & 1) << v for v, u in enumerate(values)) for j in range(ENTITIES)]
    return max(min((bit ^ one).bit_count() for one in _linear()) for bit in bits) / _VECTORS


def print_simulated(runs: int) -> bool:
    """Print rates and answers.

    False if a rate is outside its bound, the schedules decide otherwise in a run, or a share of answers is above 40%.
    """
    right, rows, shares = True, [], []
    for subject in SUBJECTS:
        found = simulate(subject, runs=runs)
        least = 1.0 if subject.rejects else found.least / runs
        rates = [1 - found.rejected / runs, found.rejected / runs, least]
        shares.append(found.taken / runs / FULL)
        right &= found.differing == 0 and shares[-1] <= _MOST_TAKEN and _is_within(subject, found, runs, least)
        rows.append([subject.name, *(f"{rate:.4f}" for rate in rates), f"{found.taken / runs:.1f}"])
    print(f"n = {TESTS}, k = {REPEATS}, {ENTITIES} entities, {runs:,} runs a subject.\n")
    print(table(["a subject that", "accepted", "rejected", "at least", "fast"], rows))
    print(f"\nmean share of the {FULL} answers of the full schedule: {sum(shares) / len(shares):.1%}\n")
    return right


def _is_within(subject: Subject, found: Found, runs: int, least: float) -> bool:
    if subject.epsilon == 0:
        return found.rejected == (runs if subject.rejects else 0)
    return found.rejected / runs >= least - _DEVIATIONS * math.sqrt(least * (1 - least) / runs)


PARTS = {"simulated": Part(lambda options: print_simulated(options.runs))}


if __name__ == "__main__":
    sys.exit(run_parts("extraction", PARTS, __doc__, {"--runs": (10_000, "records a subject")}))
