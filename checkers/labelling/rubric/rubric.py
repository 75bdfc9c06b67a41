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

from checkers.labelling.rubric.condition import NO_ANSWERS, Answers, Condition
from checkers.labelling.rubric.conditions import CONDITION_KEYS, TAGGED, AnyCondition
from checkers.labelling.rubric.faults import Misplaced, RubricError, RubricPart, Unfit, faults_of, not_among
from checkers.labelling.rubric.fields import sized
from checkers.labelling.rubric.judge import CriterionJudge
from checkers.labelling.rubric.labels import Aggregator, LabelValues
from checkers.labelling.rubric.source import (
    MAX_BYTES,
    START,
    Location,
    NotYaml,
    RubricFault,
    RubricSource,
    place_after,
    quoted,
)
from models.concurrent import gather_or_cancel
from schemas.evidence import Label

_MAX_TOTAL = 500
_TOO_LARGE = RubricFault(START, f"the file is too large; allowed are {MAX_BYTES} bytes")

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
        """True if plain language occurs in it, so that a judge may be asked."""
        return bool(self.condition.questions)

    @cached_property
    def clauses(self) -> tuple["Criterion", ...]:
        """The clauses of a compound criterion, named `NAME.1` and so on; none of a simple one."""
        return tuple(
            Criterion(f"{self.name}.{number}", clause) for number, clause in enumerate(self.condition.clauses, start=1)
        )

    async def holds(self, x: JsonValue, judge: CriterionJudge) -> bool:
        """The bit for `x`, whatever JSON value it is; raises what `judge` raises."""
        return await self.condition.holds(x, judge)


@dataclass(frozen=True, kw_only=True)
class Rubric:
    """The criteria of a labelling task, and how their bits make the label."""

    name: str
    about: str | None = None
    """What the datapoints are, in words."""
    criteria: tuple[Criterion, ...]
    """C, in order."""
    aggregator: Aggregator
    relevance: Relevance = "parts"

    @cached_property
    def labels(self) -> tuple[Label, Label]:
        """The labels that an aggregated bit of 0 and of 1 stand for."""
        return self.aggregator.values.zero, self.aggregator.values.one

    @cached_property
    def total(self) -> tuple[Criterion, ...]:
        """The total rubric: every criterion and behind it, recursively, its clauses; each condition once."""
        own = {one.condition.meaning: one for one in self.criteria}
        found: dict[str, Criterion] = {}
        for one in chain.from_iterable(map(_opened, self.criteria)):
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
        waiting = [one.holds(x, judge) for one, bit in zip(self.criteria, settled, strict=True) if bit is None]
        judged = iter(await gather_or_cancel(waiting) if waiting else ())
        return tuple(int(next(judged) if bit is None else bit) for bit in settled)

    async def total_bits(self, x: JsonValue, judge: CriterionJudge) -> tuple[int, ...]:
        """The bits of the total rubric. The judge is asked every question, all at once; raises what `judge` raises."""
        answers = await self._answers(x, judge) if self.plain else NO_ANSWERS
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

    async def _answers(self, x: JsonValue, judge: CriterionJudge) -> Answers:
        questions = dict.fromkeys(chain.from_iterable(one.condition.questions for one in self.criteria))
        open_ones = [one for one in questions if one.settled(x) is None]
        answers = await gather_or_cancel(judge.bit(one.ask, one.subject(x)) for one in open_ones)
        return dict(zip(open_ones, answers, strict=True))


def load_rubric(path: Path) -> Rubric:
    """The rubric in a file.

    Raises:
        RubricError: the file cannot be read, or says no rubric.
    """
    shown = str(path)
    try:
        with path.open("rb") as file:
            # One more than is allowed, so that too large a file is noticed and never read whole.
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RubricError(shown, [RubricFault(START, f"cannot be read: {error.strerror or error}")]) from None
    if len(data) > MAX_BYTES:
        raise RubricError(shown, [_TOO_LARGE])
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        place = place_after(data[: error.start].decode())
        raise RubricError(shown, [RubricFault(place, f"the byte 0x{data[error.start]:02X} is not UTF-8")]) from None
    return parse_rubric(text, shown=shown)


def parse_rubric(text: str, *, shown: str) -> Rubric:
    """The rubric in the text of a file, which faults name as `shown`.

    Raises:
        RubricError: it says no rubric; all its faults are told.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise RubricError(shown, [_TOO_LARGE])
    try:
        source = RubricSource.read(text.removeprefix("\ufeff"))
    except NotYaml as error:
        raise RubricError(shown, [error.fault]) from None
    try:
        file = _RubricFile.model_validate(source.data)
    except ValidationError as error:
        raise RubricError(shown, [*source.faults, *faults_of(error, source, _MODELS)]) from None
    if source.faults:
        raise RubricError(shown, source.faults)
    rubric = file.rubric()
    if len(rubric.total) > _MAX_TOTAL:
        said = f"with all their clauses these are {len(rubric.total)} criteria; allowed are {_MAX_TOTAL}"
        raise RubricError(shown, [RubricFault(source.spots[()].value, said)])
    return rubric


def _one_named(value: Any) -> Any:
    wanted = 'should be a criterion, a name with a condition, such as - polite: {contains: "please"}'
    if not isinstance(value, dict) or not value:
        raise ValueError(wanted)
    first, *others = value
    if first in CONDITION_KEYS:
        raise Misplaced(f"{first!r} stands where the criterion's name belongs; it {wanted}", first)
    if others:
        told = f"{others[0]!r} stands beside the criterion {quoted(first)}; indent it more, or begin it with '- '"
        raise Misplaced(told, others[0])
    return value


def _by_word(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise Unfit(f"should be majority, any, all, or a mapping with {', '.join(Aggregator.keys())}")
    return {"by": value} if isinstance(value, str) else value


_Name = Annotated[str, StringConstraints(pattern=r"^\w[\w-]{0,63}$")]
_NamedCondition = Annotated[dict[_Name, AnyCondition], BeforeValidator(_one_named)]


class _RubricFile(RubricPart):
    name: _Name = Field(alias="rubric")
    criteria: Annotated[tuple[_NamedCondition, ...], sized(1, 100)]
    label: Annotated[Aggregator, BeforeValidator(_by_word)]
    about: Annotated[str, StringConstraints(min_length=1, max_length=4000)] = ""
    relevant: Relevance | None = None

    @model_validator(mode="after")
    def _names_are_different(self) -> "_RubricFile":
        names: list[str] = []
        meanings: dict[str, str] = {}
        for index, (name, condition) in enumerate(self._named()):
            if name in names:
                told = f"the name {name} stands above already; every criterion has its own"
                raise Misplaced(told, "criteria", index, name)
            names.append(name)
            same = meanings.setdefault(condition.meaning, name)
            if same != name:
                told = f"says the same as {same}; to make a criterion count for more, use weights"
                raise Misplaced(told, "criteria", index, name)
        weights = self.label.weights
        for name in weights.keys() - set(names):
            raise Misplaced(not_among("criterion of this rubric", name, names), "label", "weights", name)
        if self.label.by == "weights" and (missing := [name for name in names if name not in weights]):
            told = f"the criterion {missing[0]} has no weight; every criterion needs one"
            raise Misplaced(told, "label", "weights", at_key=False)
        return self

    def rubric(self) -> Rubric:
        """The rubric that the file says."""
        criteria = tuple(Criterion(name, condition) for name, condition in self._named())
        weights = {one.name: self.label.weights[one.name] for one in criteria if self.label.weights}
        # Of a text that a judge is asked about, no part means what the whole does.
        usual: Relevance = "whole" if any(one.plain for one in criteria) else "parts"
        return Rubric(
            name=self.name,
            about=self.about or None,
            criteria=criteria,
            aggregator=self.label.model_copy(update={"weights": weights}),
            relevance=self.relevant or usual,
        )

    def _named(self) -> Iterator[tuple[str, Condition]]:
        for one in self.criteria:
            yield from one.items()


_MODELS: dict[Location | str, type[RubricPart]] = {
    **TAGGED,
    (): _RubricFile,
    ("label",): Aggregator,
    ("label", "values"): LabelValues,
}


def _opened(criterion: Criterion) -> Iterator[Criterion]:
    yield criterion
    for clause in criterion.clauses:
        yield from _opened(clause)
