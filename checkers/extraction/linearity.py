"""The linearity test: f(x xor y) = f(x) xnor f(y) on random vectors (paper, section 3).

A vector has a bit for each entity and is kept as an integer, the first entity in the lowest bit. In v, 1 means that the
entity is replaced in the sentence R(v). In u = f(v), 0 means that the entity's replacement was extracted from it. Of an
ideal extraction f(v) = not v.

By the paper a test is passed if any combination of the answers about its sentences passes it; `lenient` takes that one.
Else each sentence has the majority of its answers, entity by entity, and `needed` asks for as few as decide.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from checkers.extraction.mentions import Located, is_among
from models.work import gather_or_cancel
from schemas.extraction import EntityCount

Vector = int
LinearityTest = tuple[Vector, Vector, Vector]
"""Three sentences: x, y and x xor y."""
Reading = int | None
"""u of one answer, and in the bits above it a 1 for each entity that was not extracted itself; None if the answer could
not be read."""
Extracted = tuple[str, ...]
"""One answer: the entities that were extracted from a sentence."""
Answers = Sequence[Extracted | None]
"""The answers about one sentence; None for each that could not be read."""
Ask = Callable[[Vector, int, int], Awaitable[Answers]]
"""Takes a vector, how many answers about its sentence are wanted, and the number of the first."""


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a test, and the values of f that it depends on."""

    test: LinearityTest
    outcome: Literal["passed", "failed", "unusable"]
    """`unusable`: the answers that would decide could not be read."""
    values: tuple[Reading, ...]
    """f of the test's vectors: the majorities, or the combination of answers with the fewest wrong bits."""
    answers: Sequence[Answers]
    """About its three sentences."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The tests that were made, and by vector all answers that were taken."""

    located: Located
    results: Sequence[Result]
    answers: Mapping[Vector, Answers]
    lenient: bool = False

    @property
    def ideal_share(self) -> float | None:
        """The share of the sentences, each counted once, with f(v) = not v; None if none was read."""
        known, mask = values_of(self.results), self.located.mask
        return sum(u & mask == ~v & mask for v, u in known.items()) / len(known) if known else None

    def named(self, *, replaced: bool) -> list[EntityCount]:
        """Counts of each entity extracted where it stands, or of its replacement where that does."""
        found = []
        for j, entity in enumerate(self.located.entities):
            known = [is_among(self.located.in_places(v)[j], one) for v, one in self._read() if v >> j & 1 == replaced]
            found.append(EntityCount(entity=entity, times=sum(known), answers=len(known)))
        return found

    def besides(self) -> list[EntityCount]:
        """Entities extracted next to those that stand in the entities' places, the most frequent first."""
        known = list(self._read())
        counts: Counter[str] = Counter()
        for v, one in known:
            there = self.located.in_places(v)
            counts.update({entity for entity in one if not is_among(entity, there)})
        return [EntityCount(entity=entity, times=times, answers=len(known)) for entity, times in counts.most_common()]

    def _read(self) -> Iterator[tuple[Vector, Extracted]]:
        return ((v, one) for v, known in self.answers.items() for one in known if one is not None)


async def tried_fast(
    tests: Sequence[LinearityTest], ask: Ask, located: Located, untouched: Answers, repeats: int
) -> Tried:
    """The tests up to the first that fails, with as few answers as decide them; raises what `ask` raises.

    `untouched` are the first answers about the text itself.
    """
    answers: dict[Vector, list[Extracted | None]] = defaultdict(list, {0: list(untouched)})

    async def ask_further(v: Vector, count: int) -> None:
        answers[v] += await ask(v, count - len(answers[v]), len(answers[v]))

    for number, test in enumerate(tests, start=1):
        while wanted := needed(test, {v: [located.read(one) for one in answers[v]] for v in test}, repeats):
            await gather_or_cancel(ask_further(v, count) for v, count in wanted.items())
        made = tests[:number]
        if result_of(test, [answers[v] for v in test], located).outcome == "failed":
            break
    # Later tests may have asked further about a sentence.
    results = [result_of(test, [answers[v] for v in test], located) for test in made]
    return Tried(located, results, {v: known for v, known in answers.items() if known})


async def tried_fully(tests: Sequence[LinearityTest], ask: Ask, located: Located, repeats: int) -> Tried:
    """All tests with all answers, a text that comes again asked about again; raises what `ask` raises."""
    slots = [v for test in tests for v in test]
    # The first about no transformed text are those about the text itself.
    earlier = [slots[:place].count(v) + (v == 0) for place, v in enumerate(slots)]
    taken = await gather_or_cancel(ask(v, repeats, known * repeats) for v, known in zip(slots, earlier, strict=True))
    answers: dict[Vector, list[Extracted | None]] = defaultdict(list)
    for v, known in zip(slots, taken, strict=True):
        answers[v] += known
    about = zip(taken[::3], taken[1::3], taken[2::3], strict=True)
    results = [result_of(test, known, located, lenient=True) for test, known in zip(tests, about, strict=True)]
    return Tried(located, results, answers, lenient=True)


def draw_tests(entities: int, count: int, draw: Random) -> list[LinearityTest]:
    """`count` tests with x and y drawn uniformly, but that each entity is replaced in one of them at least."""
    vectors = [0] * (2 * count)
    for j in range(entities):
        column = 0
        while not column:
            column = draw.getrandbits(2 * count)
        vectors = [v | (column >> place & 1) << j for place, v in enumerate(vectors)]
    return [(x, y, x ^ y) for x, y in zip(vectors[::2], vectors[1::2], strict=True)]


def majority(samples: Sequence[Reading]) -> Reading:
    """For each entity what most answers say, 1 if they are divided; None if only half or fewer could be read."""
    known = [u for u in samples if u is not None]
    if 2 * len(known) <= len(samples):
        return None
    ones = [sum(u >> j & 1 for u in known) for j in range(max(known).bit_length())]
    return sum(1 << j for j, count in enumerate(ones) if 2 * count >= len(known))


def result_of(test: LinearityTest, answers: Sequence[Answers], located: Located, *, lenient: bool = False) -> Result:
    """The result of a test from the answers about each of its three sentences."""
    samples = [[located.read(one) for one in about] for about in answers]
    choices: list[Sequence[Reading]] = [(majority(one),) for one in samples]
    if lenient:
        # Each value once; if no answer could be read, that.
        choices = [list(dict.fromkeys(u for u in one if u is not None)) or [None] for one in samples]

    def wrong_bits(values: tuple[Reading, ...]) -> int:
        """The entities in which f(x xor y) is not f(x) xnor f(y); none if a value is not known."""
        of_x, of_y, of_xor = values
        if of_x is None or of_y is None or of_xor is None:
            return 0
        return (~(of_x ^ of_y ^ of_xor) & located.mask).bit_count()

    values = min(itertools.product(*choices), key=wrong_bits)
    is_known = None not in values
    return Result(test, ("failed" if wrong_bits(values) else "passed") if is_known else "unusable", values, answers)


def rejection_probability(epsilon: float, tests: int) -> float:
    """The least probability that one of so many tests fails if f is `epsilon`-far from linear (theorems 3.1, 3.2)."""
    fails = 3 * epsilon - 6 * epsilon**2 if epsilon <= 0.25 else 2 / 9
    return 1 - (1 - fails) ** tests


def error_bound(epsilon: float, tests: int, entities: int) -> float:
    """The greatest probability that a single-valued f that is `epsilon`-far passes the tests of `draw_tests`.

    Draws that never replace some entity, which of each is one in 4^tests, are drawn again, and counted in here.
    """
    return min(1.0, (1 - rejection_probability(epsilon, tests)) / (1 - 4.0**-tests) ** entities)


def strays(results: Iterable[Result], mask: Vector) -> Vector:
    """The entities that are lost in some sentence, they themselves or their replacements, as a vector.

    A subject that never names a replacement, or never what is not replaced, is linear and passes every test.
    """
    found = 0
    for v, u in values_of(results).items():
        found |= (u ^ ~v | u >> mask.bit_length() & ~v) & mask
    return found


def values_of(results: Iterable[Result]) -> dict[Vector, Vector]:
    """F of each sentence that was read."""
    return {v: u for one in results for v, u in zip(one.test, one.values, strict=True) if u is not None}


def needed(test: LinearityTest, answers: Mapping[Vector, Sequence[Reading]], repeats: int) -> dict[Vector, int]:
    """By sentence the number of answers to know next; empty once no further answer can change the test's outcome."""
    left = {v: further(answers[v], repeats) for v in test}
    if any(not more and majority(answers[v]) is None for v, more in left.items()):
        return {}
    return {v: len(answers[v]) + more for v, more in left.items() if more}


def further(samples: Sequence[Reading], repeats: int) -> int:
    """The answers to be taken next: more than half of `repeats`, then the others if those could change the majority."""
    more, left = repeats // 2 + 1 - len(samples), repeats - len(samples)
    # All others name each entity, or none (64 bits: more than there are entities), or cannot be read.
    might = {majority([*samples, *[u] * left]) for u in (0, (1 << 64) - 1, None)}
    return more if more > 0 else left * (len(might) > 1)


def groups(answers: Answers) -> list[tuple[Extracted | None, int]]:
    """Equal lists, whatever their order and case, with their number, the most frequent first; unread ones are alike."""
    alike: dict[frozenset[str] | None, list[Extracted | None]] = {}
    for one in answers:
        key = None if one is None else frozenset(" ".join(entity.split()).casefold() for entity in one)
        alike.setdefault(key, []).append(one)
    return sorted(((known[0], len(known)) for known in alike.values()), key=lambda group: -group[1])


def consistency(answers: Answers) -> int:
    """The number of answers that gave the most frequent list; 0 if none could be read."""
    return max((count for one, count in groups(answers) if one is not None), default=0)
