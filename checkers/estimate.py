"""What a check is going to cost, reckoned before anything is asked.

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
    """What is asked of one model."""

    expected: Load = Load()
    most: Load = Load()
    """If every question that may be asked is, and every reply is long."""

    def __add__(self, other: Range) -> Range:
        return Range(self.expected + other.expected, self.most + other.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What one check asks of the judge, and of the record's subject."""

    judge: Range = Range()
    subject: Range = Range()


def tokens_of(text: str) -> int:
    """About so many tokens."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def certain(questions: Iterable[tuple[Question[Any], float]]) -> Range:
    """What is asked in any case: each question with the tokens that its reply usually has."""
    expected = total(asking(question, reply) for question, reply in questions)
    return Range(expected, long(expected))


def asking(question: Question[Any], reply_tokens: float) -> Load:
    """One question."""
    return Load(1, sum(len(message.content) for message in question.messages) / CHARACTERS_A_TOKEN, reply_tokens)


def total(loads: Iterable[Load]) -> Load:
    """Their sum."""
    return sum(loads, Load())


def long(load: Load) -> Load:
    """The same with long replies."""
    return Load(load.calls, load.prompt_tokens, load.completion_tokens * LONG)


def calls(expected: float, most: float | None = None) -> Range:
    """Calls of a judge that grades: it reads no prompts, and nobody pays for its tokens."""
    return Range(Load(expected), Load(expected if most is None else most))
