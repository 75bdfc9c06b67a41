"""The order of questions, and their end: the paper's full schedule, and one that stops as early as it can.

Both come to the same decision on the same answers. The full one needs all of them; the sequential one goes from test to
test, asks about no sentence twice, and stops at the first test that fails and as soon as no further answer can change
the outcome of a test.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Literal

from checkers.extraction.linearity import (
    LinearityTest,
    Rule,
    Samples,
    TestResult,
    Vector,
    majority,
    never_names,
    result_of,
)

Finding = Literal["linear", "not_linear", "never_names", "unusable"]
"""The outcome of all tests. `never_names`: all pass, as no replacement is ever named, which rejects like `not_linear`.
`unusable`: none fails, and of one the deciding answers could not be read."""

Wanted = dict[Vector, int]
"""By sentence, the number of answers that must be known to go on."""


def finding_of(results: Sequence[TestResult]) -> Finding:
    """The outcome of all tests; `results` may end with the first that failed."""
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
        further = [_further(known, repeats) for known in samples]
        settled = [majority(known) for known, more in zip(samples, further, strict=True) if not more]
        if None in settled or not any(further):
            return result_of(test, [known or [None] for known in samples], "strict", mask)
        yield {v: len(answers[v]) + more for v, more in zip(test.vectors, further, strict=True) if more}


def _further(samples: Samples, repeats: int) -> int:
    """The further answers that settle the majority if all of them are like the one that leads; 0 if it is settled."""
    left = repeats - len(samples)
    counts = list(Counter(samples).values())
    leading = max(counts, default=0)
    place = counts.index(leading) if counts else 0
    # What is equally frequent wins if it came first, and what has not come yet would come last.
    ahead = [count + (other < place) for other, count in enumerate(counts) if other != place]
    return max(0, -((leading - left - max(ahead, default=0)) // 2))
