"""Rubrics (paper, section 5): ordered criteria over datapoints, and the aggregator that makes the label of their bits.

A rubric file is YAML (docs/rubrics.md). Its conditions are expressions of CEL, the Common Expression Language: they are
compiled and evaluated by Google's library, have no side effects, and end after a bounded number of steps.
"""

import hashlib
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from models.wording import straightened
from models.work import gather_or_cancel
from schemas import nearest
from schemas.evidence import Label

AskJudge: TypeAlias = Callable[[str, JsonValue], Awaitable[bool]]
"""Answers a question in plain language about a value: True for yes. Raises ModelError if there is no answer."""

MISSING: Final = object()
"""The value of an expression that fails, such as one about a field that is not there."""

_MAX_DEPTH = 20
"""Of a file's lists and mappings."""

_ALLOWED = (
    "x is the datapoint; functions are contains, startsWith, endsWith, matches, size, count, words and lower; "
    "a criterion may use the names of clauses"
)
_ERROR = re.compile(r"<input>:\d+:(\d+): (.*?)(?: \(in container ''\))?$", re.MULTILINE)
_LITERAL = r"""(r?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))"""
_LOOKS_FOR = re.compile(rf"!?(x\.(?:contains|startsWith|endsWith)\({_LITERAL}\))")
_MATCHES = re.compile(rf"\.matches\({_LITERAL}\)")


async def no_judge(question: str, x: JsonValue) -> bool:
    """Stand for the judge where no condition is in plain language."""
    raise RuntimeError("a criterion in plain language, where there is no judge")


def same_label(first: Label, second: Label) -> bool:
    """True if two labels are the same, written as number, truth value or text: 1, true and "1" are.

    White space and the kinds of quotation marks and dashes make no difference.
    """

    def plain(label: Label) -> str:
        return str(int(label)) if isinstance(label, bool) else straightened(str(label))

    return plain(first) == plain(second)


def shown(value: JsonValue) -> str:
    """A datapoint as people and models read it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


class RubricError(ValueError):
    """A rubric that cannot be used. Its text has a line `file: key path: message` for each fault."""

    def __init__(self, shown: str, faults: Sequence[str]) -> None:
        super().__init__("\n".join(f"{shown}: {one}" for one in faults))


@cache
def _environment(clauses: tuple[str, ...]) -> Any:
    from cel_expr_python import cel

    def method(name: str, implementation: Callable[..., Any], returned: Any, *taken: Any) -> Any:
        given = [cel.Type.STRING, *taken]
        return cel.FunctionDecl(name, [cel.Overload(name, returned, given, is_member=True, impl=implementation)])

    functions = [
        method("count", str.count, cel.Type.INT, cel.Type.STRING),
        method("words", str.split, cel.Type.List(cel.Type.STRING)),
        method("lower", str.lower, cel.Type.STRING),
    ]
    return cel.NewEnv(variables={"x": cel.Type.DYN, **dict.fromkeys(clauses, cel.Type.BOOL)}, functions=functions)


@cache
def _compiled(expression: str, clauses: tuple[str, ...] = ()) -> Any:
    """The compiled expression; ValueError says what is wrong with it, and what is allowed."""
    try:
        return _environment(clauses).compile(expression)
    except RuntimeError as error:
        found = _ERROR.search(str(error))
        told = f"column {found[1]}: {found[2]}" if found else str(error)
        raise ValueError(f"not an expression of CEL, {told}; {_ALLOWED}") from None


def _value(expression: str, x: JsonValue, bits: Mapping[str, bool] | None = None, clauses: tuple[str, ...] = ()) -> Any:
    """The value of an expression, or MISSING where it fails. `bits` are those of clauses, as far as they are known."""
    try:
        found = _compiled(expression, clauses).eval(data={"x": x, **(bits or {})})
    except RuntimeError:
        # A text that is not Unicode, or more steps than are allowed.
        return MISSING
    return MISSING if found.type().name() == "ERROR" else found.plain_value()


class RubricPart(BaseModel):
    """A mapping of a rubric file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Text = Annotated[str, StringConstraints(min_length=1)]


class Condition(RubricPart):
    """A function from datapoints to one bit: an expression, or a question to a judge."""

    expression: _Text = Field("", alias="if")
    ask: _Text | None = None
    """A question in plain language. Nothing is asked about a value that is missing: the condition does not hold."""
    of: _Text = "x"
    """An expression for the value that the question is about."""
    says: _Text | None = None
    """The condition in words, for people and labellers."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> "Condition":
        if bool(self.expression) == bool(self.ask) or (self.expression and "of" in self.model_fields_set):
            raise ValueError('should be an expression such as x.contains("word"), or have the key if, or ask and of')
        return self

    def faults(self, clauses: tuple[str, ...]) -> Iterator[str]:
        """Errors in its expressions, where it may use the names of `clauses`."""
        expression = self.expression or self.of
        try:
            given = _compiled(expression, clauses).return_type().name()
        except ValueError as error:
            yield str(error)
            return
        if self.expression and given not in {"BOOL", "DYN"}:
            yield f"the expression is of the type {given}; a condition is true or false"
        for found in _MATCHES.finditer(expression):
            tried = _compiled(f'"".matches({found[1]})').eval()
            if tried.type().name() == "ERROR":
                yield f"not an expression of RE2, {str(tried.value()).removeprefix('INVALID_ARGUMENT: ')}"

    def part(self, x: str) -> str | None:
        """The text that it looks for, if it does nothing else and x has that."""
        found = _LOOKS_FOR.fullmatch(self.expression)
        part = _value(found[2], x) if found and _value(found[1], x) is True else ""
        return part or None

    @property
    def phrase(self) -> str:
        """The condition in words."""
        if self.says or not self.ask:
            return self.says or f"of the datapoint x, {self.expression}"
        about = "" if self.of == "x" else f", asked about the field {_as_json(self.of.removeprefix('x.'))},"
        return f"the answer to {_as_json(self.ask)}{about} is yes"


def _two_labels(given: Any) -> Any:
    values = {str(key): value for key, value in given.items()} if isinstance(given, dict) else {}
    are_labels = all(isinstance(one, int | str) and str(one).strip() for one in values.values())
    if values.keys() != {"0", "1"} or not are_labels or same_label(values["0"], values["1"]):
        raise ValueError("should be {0: LABEL, 1: LABEL}: two different texts, whole numbers or truth values")
    return values


_BITS: dict[str, Label] = {"0": 0, "1": 1}


class Aggregator(RubricPart):
    """sigma (paper, section 5): from the bits of a rubric to the bit of the label.

    No challenge uses it; it is what an evaluator claims to know.
    """

    by: Literal["majority", "any", "all", "weights"]
    weights: dict[str, float] = Field(default_factory=dict)
    """By the criteria's names."""
    threshold: float = 0
    """The bit is 1 from this sum of weights on."""
    values: Annotated[dict[str, Label], BeforeValidator(_two_labels)] = _BITS
    """The labels that the bits stand for."""

    @model_validator(mode="after")
    def _goes_together(self) -> "Aggregator":
        own = {"weights", "threshold"} if self.by == "weights" else set()
        if {"weights", "threshold"} & self.model_fields_set != own:
            raise ValueError("'weights' and 'threshold' go with by: weights, and both are needed there")
        most, least = (math.fsum(sign(0, one) for one in self.weights.values()) for sign in (max, min))
        if own and not least < self.threshold <= most:
            raise ValueError(f"the threshold is {self.threshold:g}; allowed is above {least:g} and up to {most:g}")
        return self

    @property
    def description(self) -> str:
        """All of it in a sentence: for people, for a labeller's prompt, and part of a rubric's version."""
        if self.by == "majority":
            return "Majority vote: 1 if more criteria hold than do not, 0 if fewer do, 1 in a tie."
        if self.by != "weights":
            return f"1 if {'at least one' if self.by == 'any' else 'every'} criterion holds, else 0."
        weights = ", ".join(f"{weight:g}" for weight in self.weights.values())
        reached = f"the weights of those that hold add up to {self.threshold:g} or more"
        return f"The criteria have the weights {weights}, in this order: 1 if {reached}, else 0."

    def __call__(self, bits: Sequence[int]) -> int:
        """0 or 1."""
        if self.by == "weights":
            held = (weight for weight, bit in zip(self.weights.values(), bits, strict=True) if bit)
            return int(math.fsum(held) >= self.threshold)
        return int(sum(bits) >= {"any": 1, "all": len(bits), "majority": len(bits) / 2}[self.by])


class Criterion(NamedTuple):
    """A condition with a name: a map from datapoints to one bit."""

    name: str
    condition: Condition
    clauses: tuple[str, ...] = ()
    """The clauses that its expression uses."""


def _of_text(key: str) -> BeforeValidator:
    return BeforeValidator(lambda given: {key: given} if isinstance(given, str) else given)


_Name = Annotated[str, StringConstraints(pattern=r"^\w[\w-]{0,63}$")]
_ClauseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
_Condition = Annotated[Condition, _of_text("if")]


class Rubric(RubricPart):
    """The criteria of a labelling task, and how their bits make the label, as a file says them."""

    name: _Name = Field(alias="rubric")
    about: _Text | None = None
    """The datapoints, in words."""
    conditions: dict[_Name, _Condition] = Field(alias="criteria", min_length=1)
    """By the criteria's names, in order."""
    clauses: dict[_ClauseName, _Condition] = Field(default_factory=dict)
    """Conditions that compound criteria are made of."""
    aggregator: Annotated[Aggregator, _of_text("by"), Field(alias="label")]
    """sigma, before the bit is given the name of a label."""

    @model_validator(mode="after")
    def _goes_together(self) -> "Rubric":
        faults = [f"clauses.{name}: a criterion has this name" for name in self.conditions if name in self.clauses]
        for name, one in self.conditions.items():
            faults += (f"criteria.{name}: {fault}" for fault in one.faults(tuple(self.clauses)))
        for name, one in self.clauses.items():
            faults += (f"clauses.{name}: {fault}" for fault in one.faults(()))
            if not any(name in criterion.clauses for criterion in self.criteria):
                faults.append(f"clauses.{name}: no criterion uses it")
        if self.aggregator.by == "weights" and list(self.aggregator.weights) != list(self.conditions):
            faults.append(f"label.weights: one for each criterion, in their order: {', '.join(self.conditions)}")
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """C, in order."""
        return tuple(Criterion(name, one, self._used(one.expression)) for name, one in self.conditions.items())

    def _used(self, expression: str) -> tuple[str, ...]:
        words = re.findall(r"(?<![\w.])\w+", re.sub(_LITERAL, "", expression))
        return tuple(name for name in self.clauses if name in words)

    @cached_property
    def total(self) -> tuple[Criterion, ...]:
        """The total rubric: the criteria, and behind them their clauses."""
        return (*self.criteria, *(Criterion(name, one) for name, one in self.clauses.items()))

    @property
    def labels(self) -> tuple[Label, Label]:
        """The labels that an aggregated bit of 0 and of 1 stand for."""
        return self.aggregator.values["0"], self.aggregator.values["1"]

    @cached_property
    def version(self) -> str:
        """Digest of all that decides a bit or a label or is shown to a labeller: twelve hexadecimal digits."""
        meaning = self.model_dump(mode="json", by_alias=True, exclude={"name"})
        return hashlib.sha256(json.dumps(meaning).encode()).hexdigest()[:12]

    @cached_property
    def plain(self) -> bool:
        """True if a condition is in plain language, so that a judge is needed."""
        return any(one.condition.ask for one in self.total)

    def described(self, criterion: Criterion) -> str:
        """A criterion in words, with its clauses."""
        clauses = "; ".join(f"{name}: {self.clauses[name].phrase}" for name in criterion.clauses)
        if criterion.condition.says or not clauses:
            return criterion.condition.phrase
        return f"{criterion.condition.expression}, where {clauses}"

    async def bits(self, x: JsonValue, judge: AskJudge) -> tuple[int, ...]:
        """C(x), a bit a criterion. The judge is asked no more than the bits depend on; raises what `judge` raises."""
        known = self._by_rules(x)
        found = [self._bit(one, x, judge, known) for one in self.criteria]
        return tuple(map(int, await gather_or_cancel(found) if self.plain else [await one for one in found]))

    async def total_bits(self, x: JsonValue, judge: AskJudge) -> tuple[int, ...]:
        """The bits of the total rubric. The judge is asked every question, all at once; raises what `judge` raises."""
        asked = [one for one in self.total if one.condition.ask]
        found = await gather_or_cancel([self._bit(one, x, judge, {}) for one in asked]) if asked else []
        answers = {one.name: bit for one, bit in zip(asked, found, strict=True)}
        known = self._by_rules(x) | {name: answers[name] for name in self.clauses if name in answers}
        others = {one.name: await self._bit(one, x, judge, known) for one in self.total if not one.condition.ask}
        return tuple(int((answers | others)[one.name]) for one in self.total)

    def _by_rules(self, x: JsonValue) -> dict[str, bool]:
        """The bits of the clauses that are expressions."""
        return {name: _value(one.expression, x) is True for name, one in self.clauses.items() if not one.ask}

    async def _bit(self, one: Criterion, x: JsonValue, judge: AskJudge, known: Mapping[str, bool]) -> bool:
        """The bit, where those of some clauses are known; another is asked for only if the expression needs it."""
        if one.condition.ask:
            value = x if one.condition.of == "x" else _value(one.condition.of, x)
            return value is not MISSING and await judge(one.condition.ask, value)
        found = _value(one.condition.expression, x, known, tuple(self.clauses))
        missing = [name for name in one.clauses if name not in known]
        if found is not MISSING or not missing:
            return found is True
        clause = Criterion(missing[0], self.clauses[missing[0]])
        bit = await self._bit(clause, x, judge, {})
        return await self._bit(one, x, judge, {**known, clause.name: bit})

    def relevant(self, x: JsonValue) -> tuple[JsonValue, ...]:
        """S_x (paper, section 6.1.1): `x`, and if it is a text, the parts of it that conditions look for, each once.

        Where a judge is asked there are no parts: none means what the whole text does.
        """
        if self.plain or not isinstance(x, str):
            return (x,)
        parts = (one.condition.part(x) for one in self.total)
        return tuple(dict.fromkeys((x, *(part for part in parts if part))))

    def label(self, bits: Sequence[int]) -> Label:
        """sigma: the label that the bits of a datapoint give. Raises ValueError for another number of bits."""
        if len(bits) != len(self.criteria):
            raise ValueError(f"{len(bits)} bits; rubric {self.name} has {len(self.criteria)} criteria")
        return self.labels[self.aggregator(bits)]


def load_rubric(path: Path) -> Rubric:
    """The rubric in a file; raises RubricError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RubricError(str(path), [f"cannot be read: {error}"]) from None
    return parse_rubric(text, shown=str(path))


def parse_rubric(text: str, *, shown: str) -> Rubric:
    """The rubric in the text of a file, which faults name as `shown`.

    Raises:
        RubricError: it is not a rubric; names all its faults.
    """
    try:
        return Rubric.model_validate(_read_yaml(text))
    except ValidationError as error:
        raise RubricError(shown, [line for one in error.errors() for line in _fault(one).split("\n")]) from None
    except ValueError as error:
        raise RubricError(shown, [str(error)]) from None


def _read_yaml(text: str) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = _MAX_DEPTH
    try:
        if any(getattr(event, "anchor", None) for event in yaml.parse(text)):
            raise ValueError("anchors and aliases are not allowed; write out what they stand for")
        return yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f" (line {mark.line + 1}, column {mark.column + 1})"
        raise ValueError(f"not YAML: {' '.join(filter(None, (error.context, error.problem)))}{place}") from None
    except (YAMLError, AssertionError, OverflowError) as error:
        raise ValueError(f"not YAML: {' '.join(str(error).split())}") from None


def _fault(error: ErrorDetails) -> str:
    """A fault that validation found: key path, what is wrong, what is allowed."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"] if step != "[key]")
    message = re.sub("^Value error, | or instance of .*", "", error["msg"])
    if error["type"] == "extra_forbidden":
        part = {1: Rubric}.get(len(error["loc"]), Aggregator if error["loc"][0] == "label" else Condition)
        known = [field.alias or name for name, field in part.model_fields.items()]
        near = nearest(str(error["loc"][-1]), known)
        message = f"unknown key; {f'did you mean {near}? ' if near else ''}allowed: {', '.join(known)}"
    elif not isinstance(error["input"], RubricPart | dict | list):
        message += f", got {_as_json(error['input'])}"
    return f"{path.removeprefix('.')}: {message}" if path else message


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
