"""Rubrics (paper, section 5): ordered criteria, and the total rubric that opens compound ones into their clauses.

What a file may say is in docs/rubrics.md.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, ValidationError, model_validator

from checkers.labelling.rubric import aggregators, conditions
from checkers.labelling.rubric.aggregators import Aggregator, AnyAggregator, Weights
from checkers.labelling.rubric.condition import NO_ANSWERS, Answers, Condition, CriterionJudge, PlainQuestion
from checkers.labelling.rubric.conditions import AnyCondition
from checkers.labelling.rubric.field_paths import Text
from checkers.labelling.rubric.reading import RubricError, RubricPart, faults_of, not_among, read_yaml, sized
from models.concurrent import gather_or_cancel
from schemas.evidence import Label


@dataclass(frozen=True)
class Criterion:
    """A condition with a name: a map from datapoints to one bit."""

    name: str
    condition: Condition

    @property
    def description(self) -> str:
        """The condition in words."""
        return self.condition.phrase()

    @property
    def plain(self) -> bool:
        """True if plain language occurs in it, so that a judge may be asked."""
        return bool(self.condition.questions)

    def opened(self) -> Iterator["Criterion"]:
        """Itself, and behind it, recursively, the clauses of a compound one, named `NAME.1` and so on."""
        yield self
        for number, clause in enumerate(self.condition.clauses, start=1):
            yield from Criterion(f"{self.name}.{number}", clause).opened()


def _one_named(value: Any) -> Any:
    wanted = 'should be one name with a condition, such as - polite: {contains: "please"}'
    if not isinstance(value, dict) or not value:
        raise ValueError(wanted)
    if len(value) > 1 or next(iter(value)) in conditions.OPERATORS:
        raise ValueError(f"{wanted}; indent the condition more than the name, and begin each criterion with '- '")
    return value


_Name = Annotated[str, StringConstraints(pattern=r"^\w[\w-]{0,63}$")]
_NamedCondition = Annotated[dict[_Name, AnyCondition], BeforeValidator(_one_named)]


class Rubric(RubricPart):
    """The criteria of a labelling task, and how their bits make the label, as a file says them."""

    name: _Name = Field(alias="rubric")
    about: Text | None = None
    """The datapoints, in words."""
    named: Annotated[tuple[_NamedCondition, ...], sized(1)] = Field(alias="criteria")
    label_rule: AnyAggregator = Field(alias="label")
    looked_at: Literal["parts", "whole"] | None = Field(None, alias="relevant")

    @model_validator(mode="after")
    def _goes_together(self) -> "Rubric":
        meanings: dict[str, str] = {}
        names = [one.name for one in self.criteria]
        for index, one in enumerate(self.criteria):
            if one.name in names[:index]:
                raise ValueError(f"criteria[{index}].{one.name}: the name stands above already; give each its own")
            same = meanings.setdefault(one.condition.meaning, one.name)
            if same != one.name:
                told = f"says the same as {same}; to make a criterion count for more, use weights"
                raise ValueError(f"criteria[{index}].{one.name}: {told}")
        if isinstance(self.label_rule, Weights):
            for name in [*self.label_rule.weights, *names]:
                if name not in names:
                    raise ValueError(f"label.weights: {not_among('criterion of this rubric', name, names)}")
                if name not in self.label_rule.weights:
                    raise ValueError(f"label.weights: the criterion {name} has no weight; every criterion needs one")
        return self

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """C, in order."""
        return tuple(Criterion(name, condition) for one in self.named for name, condition in one.items())

    @cached_property
    def aggregator(self) -> Aggregator:
        """sigma, before the bit is given the name of a label."""
        if not isinstance(self.label_rule, Weights):
            return self.label_rule
        weights = {one.name: self.label_rule.weights[one.name] for one in self.criteria}
        return self.label_rule.model_copy(update={"weights": weights})

    @cached_property
    def relevance(self) -> Literal["parts", "whole"]:
        """S_x of a text: the text and the parts that criteria look at, or the text alone.

        Of a text that a judge is asked about, no part means what the whole does.
        """
        return self.looked_at or ("whole" if self.plain else "parts")

    @property
    def labels(self) -> tuple[Label, Label]:
        """The labels that an aggregated bit of 0 and of 1 stand for."""
        return self.aggregator.values["0"], self.aggregator.values["1"]

    @cached_property
    def total(self) -> tuple[Criterion, ...]:
        """The total rubric: every criterion and behind it, recursively, its clauses; each condition once."""
        own = {one.condition.meaning: one for one in self.criteria}
        found: dict[str, Criterion] = {}
        for one in chain.from_iterable(criterion.opened() for criterion in self.criteria):
            meaning = one.condition.meaning
            # A clause that is a criterion as well goes by the criterion's name.
            found.setdefault(meaning, own.get(meaning, one))
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
        """True if a criterion is, in whole or part, in plain language, so that a judge is needed."""
        return any(one.plain for one in self.criteria)

    async def bits(self, x: JsonValue, judge: CriterionJudge) -> tuple[int, ...]:
        """C(x), a bit a criterion. The judge is asked no more than the bits turn on; raises what `judge` raises."""
        settled = [one.condition.settled(x) for one in self.criteria]
        waiting = [
            one.condition.holds(x, judge) for one, bit in zip(self.criteria, settled, strict=True) if bit is None
        ]
        judged = iter(await gather_or_cancel(waiting) if waiting else ())
        return tuple(int(next(judged) if bit is None else bit) for bit in settled)

    async def total_bits(self, x: JsonValue, judge: CriterionJudge) -> tuple[int, ...]:
        """The bits of the total rubric. The judge is asked every question, all at once; raises what `judge` raises."""
        answers = await self._answers(x, judge) if self.plain else NO_ANSWERS
        # With all questions answered, no bit is open.
        return tuple(int(one.condition.settled(x, answers) is True) for one in self.total)

    def questions(self, x: JsonValue) -> list[PlainQuestion]:
        """All that a judge can be asked about `x`, each once."""
        asked = dict.fromkeys(chain.from_iterable(one.condition.questions for one in self.criteria))
        return [one for one in asked if one.settled(x) is None]

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

    async def _answers(self, x: JsonValue, judge: CriterionJudge) -> Answers:
        asked = self.questions(x)
        answers = await gather_or_cancel(judge(one.ask, one.value(x)) for one in asked)
        return dict(zip(asked, answers, strict=True))


def load_rubric(path: Path) -> Rubric:
    """The rubric in a file.

    Raises:
        RubricError: the file cannot be read, or says no rubric.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RubricError(str(path), [f"cannot be read: {error.strerror or error}"]) from None
    except UnicodeDecodeError as error:
        raise RubricError(str(path), [f"the byte at offset {error.start} is not UTF-8"]) from None
    return parse_rubric(text, shown=str(path))


def parse_rubric(text: str, *, shown: str) -> Rubric:
    """The rubric in the text of a file, which faults name as `shown`.

    Raises:
        RubricError: it says no rubric; all its faults are told.
    """
    try:
        return Rubric.model_validate(read_yaml(text))
    except ValidationError as error:
        raise RubricError(shown, faults_of(error, Rubric, (*conditions.KINDS, *aggregators.KINDS))) from None
    except ValueError as error:
        raise RubricError(shown, [str(error)]) from None
