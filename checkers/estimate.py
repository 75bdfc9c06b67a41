"""The cost of a check, reckoned before anything is asked.

Tokens are reckoned at four characters each, as no tokenizer is at hand. Repeats come on top: of requests that fail, and
of replies that cannot be used or lack something.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from models.protocol import Question

CHARACTERS_A_TOKEN = 4
LONG = 2
"""A long reply has so many times the tokens of a usual one."""


@dataclass(frozen=True, slots=True)
class Load:
    """Calls to a model, and their tokens; not whole where they are averages."""

    calls: float = 0
    prompt_tokens: float = 0
    completion_tokens: float = 0

    def __add__(self, other: Load) -> Load:
        return Load(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def __mul__(self, times: float) -> Load:
        return Load(self.calls * times, self.prompt_tokens * times, self.completion_tokens * times)


@dataclass(frozen=True, slots=True)
class Range:
    """The questions to one model."""

    expected: Load = Load()
    most: Load = Load()
    """If every question that may be asked is, and every reply is long."""

    def __add__(self, other: Range) -> Range:
        return Range(self.expected + other.expected, self.most + other.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The questions of one check to the judge, and to the record's subject."""

    judge: Range = Range()
    subject: Range = Range()


def tokens_of(text: str) -> int:
    """About so many tokens."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def load_of(question: Question[Any], reply_tokens: float) -> Load:
    """One question."""
    return Load(1, sum(len(message.content) for message in question.messages) / CHARACTERS_A_TOKEN, reply_tokens)


def sum_of(loads: Iterable[Load]) -> Load:
    return sum(loads, Load())


def with_long_replies(load: Load) -> Load:
    return Load(load.calls, load.prompt_tokens, load.completion_tokens * LONG)


def range_of(questions: Iterable[tuple[Question[Any], float]]) -> Range:
    """Questions that are asked in any case, each with the tokens that its reply usually has."""
    expected = sum_of(load_of(question, reply) for question, reply in questions)
    return Range(expected, with_long_replies(expected))


def range_of_calls(expected: float, most: float | None = None) -> Range:
    """Calls of a judge that grades: it reads no prompts, and nobody pays for its tokens."""
    return Range(Load(expected), Load(expected if most is None else most))
