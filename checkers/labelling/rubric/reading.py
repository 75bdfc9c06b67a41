"""Rubric files: YAML as plain data, and their faults by key path, such as `criteria[2].polite.and[0].count`.

Of YAML a rubric takes scalars, lists and mappings, and no more: no tags, so that nothing is constructed; no anchors and
aliases, so that the data are as small as their file. Plain words are read as YAML 1.2 reads them: `yes`, `no`, `on`,
`off` and dates are text.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Tag, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode

from schemas import nearest

_MAX_DEPTH = 20
_MAX_DIGITS = 300
_SHOWN_CHARACTERS = 60

_WORDS = {
    **dict.fromkeys(("null", "Null", "NULL", "~", "")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

_WANTED = {
    "string_type": "should be a text",
    "bool_type": "should be true or false",
    "tuple_type": "should be a list",
    "dict_type": "should be a mapping",
    "model_type": "should be a mapping",
    "string_pattern_mismatch": "should be 1 to 64 letters, digits, hyphens and underscores",
}


class RubricError(ValueError):
    """A rubric that cannot be used. Its text has a line `file: key path: message` for each fault."""

    def __init__(self, shown: str, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{shown}: {one}" for one in self.faults))


class RubricPart(BaseModel):
    """A mapping of a rubric file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def keys(cls, *, own: bool = False) -> list[str]:
        """The keys that it may have; with `own`, without inherited ones."""
        own_ones = cls.__annotations__
        return [it.alias or name for name, it in cls.model_fields.items() if name in own_ones or not own]


def tag(kind: type) -> str:
    """The name of a member of a discriminated union, which no key of a file is like."""
    return f"<{kind.__name__}>"


def union_of(kinds: Iterable[type[RubricPart]]) -> Any:
    """The members of a discriminated union, with their tags."""
    return Union[tuple(Annotated[one, Tag(tag(one))] for one in kinds)]  # noqa: UP007


def read_yaml(text: str) -> Any:
    """The one document in `text`, as plain data whose keys are texts.

    Raises:
        ValueError: nothing can be read; says why.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _PlainComposer
    yaml.max_depth = _MAX_DEPTH
    try:
        node = yaml.compose(text)
    except MaxDepthExceededError:
        raise ValueError(f"nested more than {_MAX_DEPTH} deep") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f" (line {mark.line + 1}, column {mark.column + 1})"
        raise ValueError(f"not YAML: {' '.join(filter(None, (error.context, error.problem)))}{place}") from None
    except (YAMLError, ValueError, OverflowError) as error:
        # The scanner leaves to Python what comes after \\U, and the number of a version.
        raise ValueError(f"not YAML: {' '.join(str(error).split())}") from None
    if node is None:
        raise ValueError("the file is empty; a rubric begins with 'rubric: NAME'")
    return _data(node, "")


class _PlainComposer(Composer):
    """Refuses what would make the data other or larger than their text."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        if isinstance(event, AliasEvent) or event.anchor is not None or event.ctag is not None:
            told = "anchors, aliases and tags are not allowed; write out what they stand for"
            raise ComposerError(None, None, told, event.start_mark)
        return super().compose_node(parent, index)


def _data(node: Node, path: str) -> Any:
    if isinstance(node, ScalarNode):
        text = _whole_characters(node.value, path)
        return text if node.style else _plain(text, path)
    if isinstance(node, SequenceNode):
        return [_data(one, f"{path}[{index}]") for index, one in enumerate(node.value)]
    entries: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise ValueError(_placed(path, "a list or mapping as a key; allowed are words"))  # noqa: TRY004
        name = _whole_characters(key.value, path)
        inner = f"{path}.{name}".removeprefix(".")
        if name in entries:
            raise ValueError(_placed(inner, "the key stands twice; keep one"))
        entries[name] = _data(value, inner)
    return entries


def _plain(text: str, path: str) -> str | int | float | bool | None:
    """A scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    if len(text) > _MAX_DIGITS or not math.isfinite(float(text)):
        raise ValueError(_placed(path, f"the number {_quoted(text)} is too large"))
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def _whole_characters(text: str, path: str) -> str:
    try:
        # JSON escapes a character beyond U+FFFF as two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        told = r"half of a surrogate pair (\uD800 to \uDFFF); write the character itself"
        raise ValueError(_placed(path, told)) from None


def sized(least: int, most: float = math.inf) -> AfterValidator:
    """Demand so many elements of a list whose elements are right."""

    def check(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not least <= len(values) <= most:
            raise ValueError(f"should have {least}{'' if most == least else ' or more'} elements, not {len(values)}")
        return values

    return AfterValidator(check)


def faults_of(error: ValidationError, whole: type[RubricPart], kinds: Iterable[type[RubricPart]]) -> Iterator[str]:
    """A line for each fault that validation found: key path, what is wrong, what is allowed.

    `kinds` are the members of discriminated unions, whose tags stand in pydantic's locations and not in the file.
    """
    by_tag = {tag(kind): kind for kind in kinds}
    for one in error.errors(include_url=False):
        steps = [step for step in one["loc"] if step != "[key]"]
        path = [step for step in steps if step not in by_tag]
        message = _message(one)
        if one["type"] == "extra_forbidden":
            kind = next((by_tag[str(step)] for step in reversed(steps) if step in by_tag), whole)
            message = not_among("key here", str(path.pop()), kind.keys())
        yield _placed(_key_path(path), message)


def not_among(what: str, word: str, allowed: Sequence[str]) -> str:
    """That `word` is no `what`, what is allowed, and which of it may have been meant."""
    near = nearest(word, allowed)
    meant = f"did you mean {near}? " if near else ""
    return f"{_quoted(word)} is no {what}; {meant}allowed: {', '.join(allowed) or 'none'}"


def _message(error: ErrorDetails) -> str:
    value = error["input"]
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "literal_error" and isinstance(value, str):
        return not_among("value of this key", value, re.findall(r"'([^']*)'", error["msg"]))
    told = _WANTED.get(error["type"]) or re.sub("^(Value error,|String|Input) ", "", error["msg"])
    if not told.startswith("should") or ", not " in told:
        return told
    quotes = "; put it in quotes" if error["type"] == "string_type" and isinstance(value, bool | int | float) else ""
    return f"{told}, not {_said(value)}{quotes}"


def _said(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f"the text {_quoted(value)}"
        case int() | float():
            return f"the number {value}"
    return "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"


def _quoted(text: str) -> str:
    cut = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return json.dumps(cut, ensure_ascii=False)


def _key_path(path: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _placed(path: str, message: str) -> str:
    return f"{path}: {message}" if path else message
