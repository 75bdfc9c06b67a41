"""How long a response may be: a pretend judge that writes so many tokens a second, all settings as they are by default.

It reads at once and writes what the prompt asks for: of five sentences it finds four consistent, in a few words, and
one not, in about twenty. A token is four characters.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson

from benchmarks.tables import table
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from models.build import build_oracle
from models.settings import JudgeSettings
from schemas import Generation, Verdict
from tests.support.stub_acts import Act, good
from tests.support.stub_answers import entries_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

RATES = (20, 60, 200)
"""Tokens a second."""

LENGTHS = (1, 15, 50, 150, 400)
"""Sentences."""

BOUND = 0.4
"""Of the tokens that a sentence took when it was copied and its reason began with fixed words."""

_CHARACTERS_OF_A_TOKEN = 4


def sentences(count: int) -> list[str]:
    """Of twenty words each; every fifth is not what the log says."""
    return [
        f"On day {number} of its log the harbour office counted {12 + number % 7} vessels at the eastern quay, "
        f"{2 + number % 3} more than it had expected for that week."
        for number in range(1, count + 1)
    ]


def _judged(number: int) -> tuple[str, bool]:
    """The judge's reason, and whether it finds the sentence consistent."""
    if number % 5:
        return f"the entry for day {number} gives both", True
    return (
        f"the log counts {30 + number % 7} vessels on day {number}, and does not say what was expected for that week",
        False,
    )


def reply(request: StubRequest) -> str:
    """The reply as the prompt asks for it."""
    asked: list[Any] = orjson.loads(request.fences["sentences"])
    if isinstance(asked[0], str):
        return copied(asked, range(1, len(asked) + 1))
    control = [] if request.control is None else [(request.control, "the log does not mention it", False)]
    return entries_of([*((number, *_judged(number)) for number in request.numbers), *control])


def copied(texts: Sequence[str], numbers: Sequence[int]) -> str:
    """The form of before, with the same words for reasons behind its opening: sentences copied, one flag for all."""
    entries = []
    for text, number in zip(texts, numbers, strict=True):
        reason, consistent = _judged(number)
        opening = f"This sentence is {'' if consistent else 'not '}consistent with the article"
        entries.append({"sentence": text, "reason": f"{opening}: {reason}"})
    return orjson.dumps({"reason": entries, "is_consistent": not any(number % 5 == 0 for number in numbers)}).decode()


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_OF_A_TOKEN


def _written(rate: int, request: StubRequest) -> Act:
    return good(delay=_tokens(reply(request)) / rate)


async def _check(base_url: str, count: int) -> Verdict:
    judge = build_oracle(JudgeSettings(backend="openai", base_url=base_url, model="pretend"))
    checker = ConsistencyChecker(ConsistencySettings(), Models(judge=judge))
    record = Generation(
        kind="generation",
        source="benchmarks",
        model="none",
        task="summary",
        reference=" ".join(sentences(40)),
        response=" ".join(sentences(count)),
    )
    try:
        return await checker.check(record)
    finally:
        await judge.close()


def run() -> bool:
    """Print the table and the share; whether all were judged and the share is within its bound."""
    rows = []
    judged = True
    for rate in RATES:
        with StubEndpoint(answer=reply) as stub:
            stub.play(partial(_written, rate))
            for count in LENGTHS:
                verdict = asyncio.run(_check(stub.base_url, count))
                used = verdict.usage
                told = getattr(verdict.evidence, "cause", verdict.outcome)
                judged &= verdict.outcome != "abstain"
                rows.append(
                    [rate, count, told, used.calls, used.prompt_tokens, used.completion_tokens, f"{used.seconds:.1f}"]
                )
    print(table(["tokens a second", "sentences", "", "calls", "tokens read", "tokens written", "seconds"], rows))
    count = LENGTHS[-1]
    numbers = range(1, count + 1)
    alone = _tokens(entries_of((number, *_judged(number)) for number in numbers)) / count
    now, before = used.completion_tokens / count, _tokens(copied(sentences(count), numbers)) / count
    share = alone / before
    print(
        f"\nTokens written a sentence: {alone:.1f}, with control sentences {now:.1f}; copied, behind openings: "
        f"{before:.1f}; {share:.0%} (at most 40%)"
    )
    return judged and share <= BOUND
