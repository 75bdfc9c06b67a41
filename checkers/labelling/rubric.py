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
from typing import Annotated, Any, Final, Literal, TypeAlias

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

Bits: TypeAlias = tuple[int, ...]
"""An encoding: a bit a criterion, in the rubric's order."""

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
    one, other = (straightened(str(int(label) if isinstance(label, bool) else label)) for label in (first, second))
    return one == other


def shown(value: JsonValue) -> str:
    """A datapoint as people and models read it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


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


_PART: Final = ConfigDict(extra="forbid", frozen=True)
_Text = Annotated[str, StringConstraints(min_length=1)]


class Condition(BaseModel):
    """A function from datapoints to one bit: an expression, or a question to a judge."""

    model_config = _PART

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


class Aggregator(BaseModel):
    """sigma (paper, section 5): from the bits of a rubric to the bit of the label.

    No challenge uses it; it is what an evaluator claims to know.
    """

    model_config = _PART

    by: Literal["majority", "any", "all", "weights"]
    weights: dict[str, float] = Field(default_factory=dict)
    """By the criteria's names."""
    threshold: float = 0
    """The bit is 1 from this sum of weights on."""
    values: Annotated[dict[str, Label], BeforeValidator(_two_labels)] = Field({"0": 0, "1": 1})
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


def _of_text(key: str) -> BeforeValidator:
    return BeforeValidator(lambda given: {key: given} if isinstance(given, str) else given)


_Name = Annotated[str, StringConstraints(pattern=r"^\w[\w-]{0,63}$")]
_ClauseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
_Condition = Annotated[Condition, _of_text("if")]


class Rubric(BaseModel):
    """The criteria of a labelling task, and how their bits make the label, as a file says them."""

    model_config = _PART

    name: _Name = Field(alias="rubric")
    about: _Text | None = None
    """The datapoints, in words."""
    criteria: dict[_Name, _Condition] = Field(min_length=1)
    """C, in order."""
    clauses: dict[_ClauseName, _Condition] = Field(default_factory=dict)
    """Conditions that compound criteria are made of."""
    aggregator: Annotated[Aggregator, _of_text("by"), Field(alias="label")]
    """sigma, before the bit is given the name of a label."""

    @model_validator(mode="after")
    def _goes_together(self) -> "Rubric":
        faults = [f"clauses.{name}: a criterion has this name" for name in self.criteria if name in self.clauses]
        for name, one in self.criteria.items():
            faults += (f"criteria.{name}: {fault}" for fault in one.faults(tuple(self.clauses)))
        for name, one in self.clauses.items():
            faults += (f"clauses.{name}: {fault}" for fault in one.faults(()))
            if not any(name in used for used in self._used.values()):
                faults.append(f"clauses.{name}: no criterion uses it")
        if self.aggregator.by == "weights" and list(self.aggregator.weights) != list(self.criteria):
            faults.append(f"label.weights: one for each criterion, in their order: {', '.join(self.criteria)}")
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @cached_property
    def total(self) -> dict[str, Condition]:
        """The total rubric: the criteria, and behind them their clauses."""
        return self.criteria | self.clauses

    @cached_property
    def _used(self) -> dict[str, list[str]]:
        """The clauses that each criterion uses."""
        bare = {name: re.sub(_LITERAL, "", one.expression) for name, one in self.criteria.items()}
        words = {name: re.findall(r"(?<![\w.])\w+", expression) for name, expression in bare.items()}
        return {name: [clause for clause in self.clauses if clause in words[name]] for name in self.criteria}

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
        return any(one.ask for one in self.total.values())

    @property
    def described(self) -> str:
        """The datapoints in words, and the criteria as a numbered list; without the aggregator."""
        lines = [f"(The datapoints: {' '.join(self.about.split())})"] if self.about else []
        for number, (name, one) in enumerate(self.criteria.items(), start=1):
            clauses = "; ".join(f"{clause}: {self.clauses[clause].phrase}" for clause in self._used[name])
            phrase = f"{one.expression}, where {clauses}" if clauses and not one.says else one.phrase
            lines.append(f"{number}. {name}: {phrase}")
        return "\n".join(lines)

    async def bits(self, x: JsonValue, judge: AskJudge = no_judge, *, total: bool = False) -> Bits:
        """C(x), or the bits of the total rubric; raises what `judge` raises.

        For C(x) the judge is asked no more than the bits depend on, for the total rubric every question, all at once.
        """
        known = {name: _value(one.expression, x) is True for name, one in self.clauses.items() if not one.ask}
        asked = [name for name, one in self.total.items() if one.ask] if total else []
        answers = await gather_or_cancel([self._bit(name, x, judge, {}) for name in asked]) if asked else []
        known |= zip(asked, answers, strict=True)
        found = [self._bit(name, x, judge, known) for name in (self.total if total else self.criteria)]
        return tuple(map(int, await gather_or_cancel(found) if self.plain else [await one for one in found]))

    async def _bit(self, name: str, x: JsonValue, judge: AskJudge, known: Mapping[str, bool]) -> bool:
        """The bit, where those of some conditions are known; a clause is asked for only if the expression needs it."""
        if name in known:
            return known[name]
        one, used = self.total[name], self._used.get(name, [])
        if one.ask:
            value = x if one.of == "x" else _value(one.of, x)
            return value is not MISSING and await judge(one.ask, value)
        bits = {clause: known[clause] for clause in used if clause in known}
        found = _value(one.expression, x, bits, tuple(self.clauses))
        missing = next((clause for clause in used if clause not in known), None)
        if found is not MISSING or missing is None:
            return found is True
        bit = await self._bit(missing, x, judge, {})
        return await self._bit(name, x, judge, {**known, missing: bit})

    def relevant(self, x: JsonValue) -> list[JsonValue]:
        """S_x (paper, section 6.1.1): `x`, and if it is a text, the parts of it that conditions look for, each once.

        Where a judge is asked there are no parts: none means what the whole text does.
        """
        if self.plain or not isinstance(x, str):
            return [x]
        parts = (one.part(x) for one in self.total.values())
        return list(dict.fromkeys((x, *filter(None, parts))))


def load_rubric(path: Path) -> Rubric:
    """The rubric in a file; raises ValueError as `parse_rubric` does."""
    try:
        return parse_rubric(path.read_text(encoding="utf-8-sig"), shown=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None


def parse_rubric(text: str, *, shown: str) -> Rubric:
    """The rubric in a file's text; raises ValueError with a line `shown: key path: message` for each fault."""
    try:
        return Rubric.model_validate(_read_yaml(text))
    except ValidationError as error:
        faults = [line for one in error.errors() for line in _fault(one).split("\n")]
    except ValueError as error:
        faults = [str(error)]
    raise ValueError("\n".join(f"{shown}: {one}" for one in faults))


def _read_yaml(text: str) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = _MAX_DEPTH
    try:
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
    elif not isinstance(error["input"], dict | list):
        message += f", got {_as_json(error['input'])}"
    return f"{path.removeprefix('.')}: {message}" if path else message


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
