"""Who is asked what, and when enough is known: the paper's full schedule, and one that stops as early as it can.

Both come to the same decision on the same answers. The full one needs all of them; the sequential one goes from test to
test, asks about no sentence twice, and stops at the first test that fails and as soon as no further answer can change
the outcome of a test.
"""

import itertools
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Final, Literal

from checkers.extraction.linearity import (
    LinearityTest,
    Outcome,
    Reading,
    Rule,
    Samples,
    TestResult,
    Vector,
    majority,
    never_names,
    result_of,
)

Finding = Literal["linear", "not_linear", "never_names", "unusable"]
"""What the tests come to. `never_names`: all pass, as no replacement is ever named, which rejects like `not_linear`.
`unusable`: none fails, and of one the deciding answers could not be read."""

Wanted = dict[Vector, int]
"""By sentence, the number of answers that must be known to go on."""

_ANYTHING: Final = None


def finding_of(results: Sequence[TestResult]) -> Finding:
    """What the results of tests come to; `results` may end with the first that failed."""
    outcomes = {one.outcome for one in results}
    if "failed" in outcomes:
        return "not_linear"
    if "unusable" in outcomes:
        return "unusable"
    return "never_names" if never_names(results) else "linear"


def sequential(
    tests: Sequence[LinearityTest], answers: Mapping[Vector, Samples], *, rule: Rule, repeats: int, mask: Vector
) -> Generator[Wanted, None, list[TestResult]]:
    """The results of `tests` up to the first that fails.

    Yields what must be in `answers` before it is resumed; never more than `repeats` answers about a sentence.
    """
    results: list[TestResult] = []
    for test in tests:
        one = _lenient if rule == "lenient" else _strict
        results.append((yield from one(test, answers, repeats, mask)))
        if results[-1].outcome == "failed":
            break
    return results


def _lenient(
    test: LinearityTest, answers: Mapping[Vector, Samples], repeats: int, mask: Vector
) -> Generator[Wanted, None, TestResult]:
    """Any further answer may make a combination that passes, so only passing ends it early.

    Twice as many answers each time: an endpoint may give several in one reply, and most tests pass at the first.
    """
    known = 1
    while True:
        if wanted := {v: known for v in test.vectors if len(answers[v]) < known}:
            yield wanted
        result = result_of(test, [answers[v][:known] for v in test.vectors], "lenient", mask)
        if result.outcome == "passed" or known == repeats:
            return result
        known = min(2 * known, repeats)


def _strict(
    test: LinearityTest, answers: Mapping[Vector, Samples], repeats: int, mask: Vector
) -> Generator[Wanted, None, TestResult]:
    while True:
        samples = [answers[v] for v in test.vectors]
        outcome = _settled(test, [_possible(one, repeats) for one in samples], mask)
        if outcome is not None:
            of_x, of_y, of_xor = (majority(one) if one else None for one in samples)
            return TestResult(test, outcome, (of_x, of_y, of_xor))
        yield {
            v: len(known) + least
            for v, known in zip(test.vectors, samples, strict=True)
            if (least := _least_to_settle(known, repeats))
        }


def _settled(test: LinearityTest, possible: Sequence[set[Reading] | None], mask: Vector) -> Outcome | None:
    """The outcome of a test if all majorities that are still possible lead to the same; None if they do not."""
    if {None} in possible:
        return "unusable"
    known = [one for one in possible if one is not _ANYTHING]
    if len(known) < len(possible):
        return None
    outcomes = {result_of(test, [[u] for u in values], "strict", mask).outcome for values in itertools.product(*known)}
    return outcomes.pop() if len(outcomes) == 1 else None


def _possible(samples: Samples, repeats: int) -> set[Reading] | None:
    """The majorities that `repeats` answers beginning with `samples` may have; None if it may be anything."""
    left = repeats - len(samples)
    counts = Counter(samples)
    if left > max(counts.values(), default=0):
        return _ANYTHING
    # Counters keep the order of first answers, and of equally frequent ones the first wins.
    order = {u: place for place, u in enumerate(counts)}
    return {
        u
        for u in counts
        if all(
            counts[u] + left > counts[other] or (counts[u] + left == counts[other] and order[u] < order[other])
            for other in counts
            if other != u
        )
    }


def _least_to_settle(samples: Samples, repeats: int) -> int:
    """How many further answers settle the majority if all of them are like the one that leads; 0 if it is settled."""
    left = repeats - len(samples)
    counts = list(Counter(samples).values())
    leading = max(counts, default=0)
    place = counts.index(leading) if counts else 0
    # What is equally frequent wins if it came first, and what has not come yet would come last.
    ahead = [count + (other < place) for other, count in enumerate(counts) if other != place]
    return max(0, -((leading - left - max(ahead, default=0)) // 2))
