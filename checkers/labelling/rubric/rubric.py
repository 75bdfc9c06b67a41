"""Rubrics (paper, section 5): ordered criteria, and the total rubric that opens compound ones into their clauses."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal

from pydantic import JsonValue

from checkers.concurrent import gather_or_cancel
from checkers.labelling.aggregators import Aggregator
from checkers.labelling.rubric.asking import Asking
from checkers.labelling.rubric.conditions import NO_ANSWERS, Answers, Condition
from schemas.evidence import Label

Relevance = Literal["parts", "whole"]
"""What S_x holds for a text: the text and the parts that criteria look at, or the text alone."""


@dataclass(frozen=True)
class Criterion:
    """A condition with a name: a map from datapoints to one bit."""

    name: str
    condition: Condition

    @property
    def description(self) -> str:
        """What it says, in words."""
        return self.condition.phrase()

    @cached_property
    def plain(self) -> bool:
        """Whether plain language occurs in it, so that a judge may be asked."""
        return bool(self.condition.questions)

    @cached_property
    def clauses(self) -> tuple["Criterion", ...]:
        """The clauses of a compound criterion, named `NAME.1` and so on; none of a simple one."""
        return tuple(
            Criterion(f"{self.name}.{number}", clause) for number, clause in enumerate(self.condition.clauses, start=1)
        )

    async def holds(self, x: JsonValue, asking: Asking) -> bool:
        """The bit for `x`, whatever JSON value it is; raises what `asking` raises."""
        return await self.condition.holds(x, asking)


@dataclass(frozen=True, kw_only=True)
class Rubric:
    """The criteria of a labelling task, and how their bits make the label."""

    name: str
    about: str | None = None
    """What the datapoints are, in words."""
    criteria: tuple[Criterion, ...]
    """C, in order."""
    aggregator: Aggregator
    labels: tuple[Label, Label] = (0, 1)
    """The labels that an aggregated bit of 0 and of 1 stand for."""
    relevance: Relevance = "parts"

    @cached_property
    def total(self) -> tuple[Criterion, ...]:
        """The total rubric: every criterion and behind it, recursively, its clauses; each condition once."""
        own = {_key(one): one for one in self.criteria}
        found: dict[str, Criterion] = {}
        for criterion in self.criteria:
            for one in _opened(criterion):
                key = _key(one)
                # A clause that is a criterion as well goes by the criterion's name.
                found.setdefault(key, own.get(key, one))
        return tuple(found.values())

    @cached_property
    def version(self) -> str:
        """Digest of all that decides a bit or a label or is told to an evaluator: twelve hexadecimal digits."""
        meaning = {
            "about": self.about,
            "criteria": [[one.name, one.condition.meaning] for one in self.criteria],
            "aggregator": self.aggregator.description,
            "labels": self.labels,
            "relevance": self.relevance,
        }
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def plain(self) -> bool:
        """Whether a criterion is, in whole or part, in plain language, so that a judge is needed."""
        return any(one.plain for one in self.criteria)

    async def bits(self, x: JsonValue, asking: Asking) -> tuple[int, ...]:
        """C(x), a bit a criterion. A judge is asked no more than the bits turn on; raises what `asking` raises."""
        settled = [one.condition.settled(x) for one in self.criteria]
        waiting = [one.holds(x, asking) for one, bit in zip(self.criteria, settled, strict=True) if bit is None]
        judged = iter(await gather_or_cancel(waiting) if waiting else ())
        return tuple(int(next(judged) if bit is None else bit) for bit in settled)

    async def total_bits(self, x: JsonValue, asking: Asking) -> tuple[int, ...]:
        """The bits of the total rubric. A judge is asked every question, all at once; raises what `asking` raises."""
        answers = await self._answers(x, asking) if self.plain else NO_ANSWERS
        # With all questions answered, no bit is open.
        return tuple(int(one.condition.settled(x, answers) is True) for one in self.total)

    def relevant(self, x: JsonValue) -> tuple[JsonValue, ...]:
        """S_x (paper, section 6.1.1): `x`, and behind it, if it is a text, the parts that criteria look at.

        Those are the parts that make a simple criterion or clause hold: what the text contains, starts or ends with,
        and the first match of a regular expression. No part stands twice.
        """
        if self.relevance == "whole" or not isinstance(x, str):
            return (x,)
        parts = (one.condition.part(x) for one in self.total)
        return tuple(dict.fromkeys((x, *(part for part in parts if part))))

    def label(self, bits: Sequence[int]) -> Label:
        """sigma: the label that the bits of a datapoint give. Raises ValueError for another number of bits."""
        if len(bits) != len(self.criteria):
            raise ValueError(f"{len(bits)} bits; rubric {self.name} has {len(self.criteria)} criteria")
        return self.labels[self.aggregator(bits)]

    async def _answers(self, x: JsonValue, asking: Asking) -> Answers:
        questions = dict.fromkeys(chain.from_iterable(one.condition.questions for one in self.criteria))
        open_ones = [one for one in questions if one.settled(x) is None]
        answers = await gather_or_cancel(asking.bit(one.text, one.subject(x)) for one in open_ones)
        return dict(zip(open_ones, answers, strict=True))


def _opened(criterion: Criterion) -> Iterator[Criterion]:
    yield criterion
    for clause in criterion.clauses:
        yield from _opened(clause)


def _key(criterion: Criterion) -> str:
    return json.dumps(criterion.condition.meaning)
