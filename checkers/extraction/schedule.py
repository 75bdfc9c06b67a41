"""The order of questions, and their end: the paper's full schedule, and one that stops as early as it can.

By the rule strict both decide alike on the same answers. The full one needs all of them; the sequential one
asks about no sentence twice, and stops at the first test that fails and once no answer can change a test's outcome.
"""

from collections.abc import Generator, Mapping, Sequence

from checkers.extraction.linearity import LinearityTest, Rule, Samples, TestResult, Vector, majority, result_of

_ALL = (1 << 64) - 1
"""A 1 for each of more entities than there are."""

Wanted = dict[Vector, int]
"""By sentence, the number of answers that must be known to go on."""


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
        left = [further(known, repeats) for known in samples]
        settled = [majority(known) for known, more in zip(samples, left, strict=True) if not more]
        if None in settled or not any(left):
            return result_of(test, samples, "strict", mask)
        yield {v: len(answers[v]) + more for v, more in zip(test.vectors, left, strict=True) if more}


def further(samples: Samples, repeats: int) -> int:
    """The answers to be taken next: more than half of `repeats`, then the others if those could change the majority."""
    more, left = repeats // 2 + 1 - len(samples), repeats - len(samples)
    might = {majority([*samples, *[u] * left]) for u in (0, _ALL, None)}
    return more if more > 0 else left * (len(might) > 1)
