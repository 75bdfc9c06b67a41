"""Rubric files: YAML as plain data, and their faults by key path, such as `criteria[2].polite.and[0].count`.

Of YAML a rubric takes scalars, lists and mappings, and no more: no tags, so that nothing is constructed; no anchors and
aliases, so that the data are as small as their file. Plain words are read as YAML 1.2 reads them: `yes`, `no`, `on`,
`off` and dates are text.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, TypeAlias, Union

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
    "missing": "is missing",
    "string_type": "should be a text",
    "bool_type": "should be true or false",
    "tuple_type": "should be a list",
    "dict_type": "should be a mapping",
    "model_type": "should be a mapping",
    "string_pattern_mismatch": "should be 1 to 64 letters, digits, hyphens and underscores",
}

KeyPath: TypeAlias = Sequence[str | int]


class RubricError(ValueError):
    """A rubric that cannot be used. Its text has a line `file: key path: message` for each fault."""

    def __init__(self, shown: str, faults: Iterable[str]) -> None:
        super().__init__("\n".join(f"{shown}: {one}" for one in faults))


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


def sized(least: int, most: float = math.inf) -> AfterValidator:
    """Demand so many elements of a list whose elements are right."""

    def check(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not least <= len(values) <= most:
            raise ValueError(f"needs {least}{'' if most == least else ' or more'} elements, not {len(values)}")
        return values

    return AfterValidator(check)


class _PlainComposer(Composer):
    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        if isinstance(event, AliasEvent) or event.anchor is not None or event.ctag is not None:
            told = "anchors, aliases and tags are not allowed; write out what they stand for"
            raise ComposerError(None, None, told, event.start_mark)
        return super().compose_node(parent, index)


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
    return _data(node, ())


def _data(node: Node, path: tuple[str | int, ...]) -> Any:
    if isinstance(node, ScalarNode):
        text = _characters(node.value, path)
        return text if node.style else _plain(text, path)
    if isinstance(node, SequenceNode):
        return [_data(one, (*path, index)) for index, one in enumerate(node.value)]
    entries: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise ValueError(_placed(path, "a list or mapping as a key; allowed are words"))  # noqa: TRY004
        name = _characters(key.value, path)
        if name in entries:
            raise ValueError(_placed((*path, name), "the key stands twice; keep one"))
        entries[name] = _data(value, (*path, name))
    return entries


def _plain(text: str, path: KeyPath) -> str | int | float | bool | None:
    """A scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    if len(text) > _MAX_DIGITS or not math.isfinite(float(text)):
        raise ValueError(_placed(path, f"the number {_quoted(text)} is too large"))
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def _characters(text: str, path: KeyPath) -> str:
    try:
        # JSON escapes a character beyond U+FFFF as two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        told = r"half of a surrogate pair (\uD800 to \uDFFF); write the character itself"
        raise ValueError(_placed(path, told)) from None


def faults_of(error: ValidationError, whole: type[RubricPart], kinds: Iterable[type[RubricPart]]) -> Iterator[str]:
    """A line for each fault that validation found: key path, what is wrong, what is allowed.

    `kinds` are the members of discriminated unions, whose tags stand in pydantic's locations and not in the file.
    """
    by_tag = {tag(kind): kind for kind in kinds}
    for one in error.errors(include_url=False):
        tags = [by_tag[step] for step in one["loc"] if isinstance(step, str) and step in by_tag]
        path = [step for step in one["loc"] if step not in by_tag and step != "[key]"]
        message = _message(one)
        if one["type"] == "extra_forbidden":
            message = not_among("key here", str(path.pop()), (tags or [whole])[-1].keys())
        yield _placed(path, message)


def not_among(what: str, word: str, allowed: Sequence[str]) -> str:
    """Say that `word` is no `what`, what is allowed, and which of it may have been meant."""
    near = nearest(word, allowed)
    meant = f"did you mean {near}? " if near else ""
    return f"{_quoted(word)} is no {what}; {meant}allowed: {', '.join(allowed)}"


def _message(error: ErrorDetails) -> str:
    value = error["input"]
    if error["type"] == "literal_error" and isinstance(value, str):
        return not_among("value of this key", value, re.findall(r"'([^']*)'", error["msg"]))
    told = _WANTED.get(error["type"]) or re.sub("^(Value error,|String|Input) ", "", error["msg"])
    quotes = "; put it in quotes" if error["type"] == "string_type" and isinstance(value, bool | int | float) else ""
    return f"{told}, not {_said(value)}{quotes}" if told.startswith("should") else told


def _said(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, list | dict):
        return "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else f"the number {value}"


def _quoted(text: str) -> str:
    cut = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return json.dumps(cut, ensure_ascii=False)


def _placed(path: KeyPath, message: str) -> str:
    named = (one if isinstance(one, int) or re.fullmatch(r"[\w-]+", one) else _quoted(one) for one in path)
    steps = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in named)
    return f"{steps.removeprefix('.')}: {message}" if steps else message
