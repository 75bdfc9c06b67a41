"""Arguments compared with a tool's JSON Schema, which may be anyone's: no address is read, and the work is bounded."""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final

import orjson
import re2
from jsonschema import FormatChecker, validators
from jsonschema.exceptions import SchemaError, ValidationError
from pydantic import JsonValue
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from models.wording import on_a_line
from schemas import SchemaFault

_LATEST: Final = "https://json-schema.org/draft/2020-12/schema"
_DIALECTS: Final = {
    "http://json-schema.org/draft-07/schema": validators.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": validators.Draft201909Validator,
    _LATEST: validators.Draft202012Validator,
}
_MOST_BYTES: Final = 32_768
"""Of a schema: those of tools have some hundreds."""

_MOST_VALUES: Final = 1_000
"""Of arguments, at any depth: arrays of unique items are compared each with each."""

_DEEPEST: Final = 32
_MOST_STEPS: Final = 10_000
"""Keywords that are applied: schemas that refer to themselves could go on for ever."""

_MOST_FAULTS: Final = 10
_SHOWN: Final = 200
_NOT_FOLLOWED: Final = ("$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "unevaluatedProperties")
"""Keywords whose work is not bounded by the steps; no tool needs them."""

_FORMATS: Final = FormatChecker(("date", "email", "ipv4", "ipv6", "uuid"))
_FORMATS.checks("date-time", ValueError)(lambda text: not isinstance(text, str) or datetime.fromisoformat(text))

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Untestable(Exception):
    """The arguments are not compared with the schema; the message says why."""


class _Work:
    def __init__(self) -> None:
        self.steps = iter(range(_MOST_STEPS))
        self.skipped: dict[str, None] = {}


_WORK: ContextVar[_Work] = ContextVar("work")


def schema_faults(
    arguments: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]
) -> tuple[tuple[SchemaFault, ...], str | None]:
    """The first ten faults, and what of the schema was not tested, if anything.

    Raises:
        Untestable: the schema is none, or it or the arguments are beyond the bounds.
    """
    if not is_within(arguments, _DEEPEST, iter(range(_MOST_VALUES))):
        raise Untestable(f"the arguments have more than {_MOST_VALUES} values or {_DEEPEST} levels")
    validator = _validator(orjson.dumps(schema))
    if isinstance(validator, str):
        raise Untestable(validator)
    work = _Work()
    token = _WORK.set(work)
    try:
        found = list(islice(validator.iter_errors(arguments), _MOST_FAULTS))
    except Unresolvable as error:
        raise Untestable(f"the schema refers to what it does not hold: {on_a_line(str(error), _SHOWN)}") from None
    except RecursionError:
        raise Untestable("the schema refers to itself without end") from None
    finally:
        _WORK.reset(token)
    faults = (SchemaFault(path=on_a_line(each.json_path), message=_shortened(each.message)) for each in found)
    skipped = ", ".join(islice(work.skipped, 3))
    return tuple(faults), skipped and f"patterns that RE2 does not know were not tested: {on_a_line(skipped, _SHOWN)}"


def _shortened(message: str) -> str:
    """The message without the middle of the value that it quotes, as what is wrong stands behind that."""
    line = " ".join(message.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN // 2]} … {line[-_SHOWN // 2 + 3 :]}"


def is_within(value: object, levels: int, values: Iterator[int]) -> bool:
    """True if a value of JSON has at most so many levels and, together with what it holds, as many values."""
    if levels < 0 or next(values, None) is None:
        return False
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return all(is_within(each, levels - 1, values) for each in inner)


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    """The validator of a schema, or why there is none."""
    if len(schema) > _MOST_BYTES:
        return f"the schema has more than {_MOST_BYTES} bytes"
    named = [word for word in _NOT_FOLLOWED if f'"{word}":'.encode() in schema]
    if named or schema.count(b'"$id":') > 1:
        return f"the schema uses {named[0] if named else '$id within'}, which is not followed"
    document = orjson.loads(schema)
    dialect = document.get("$schema", _LATEST)
    known = _DIALECTS.get(dialect.rstrip("#")) if isinstance(dialect, str) else None
    if known is None:
        return f"its dialect is not known; known are {', '.join(_DIALECTS)}"
    try:
        known.check_schema(document, format_checker=FormatChecker(()))
    except (SchemaError, RecursionError) as error:
        return f"it is not a JSON Schema: {on_a_line(getattr(error, 'message', 'too deep'), _SHOWN)}"
    return _BOUNDED[known](document, registry=EMPTY_REGISTRY, format_checker=_FORMATS)


def _counted(keyword: _Keyword, validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if next(_WORK.get().steps, None) is None:
        raise Untestable(f"the schema takes more than {_MOST_STEPS} steps")
    yield from keyword(validator, value, instance, schema) or ()


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        return None


def _regex(pattern: str) -> Any:
    """The expression in RE2, whose time is linear, or None."""
    compiled = _compiled(pattern)
    if compiled is None:
        _WORK.get().skipped[pattern] = None
    return compiled


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    regex = _regex(pattern) if isinstance(instance, str) else None
    if regex is not None and not regex.search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
        regex = _regex(pattern)
        for name in instance if regex is not None else ():
            if regex.search(name):
                yield from validator.descend(instance[name], inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    patterns = [_regex(pattern) for pattern in schema.get("patternProperties", {})]
    if not isinstance(instance, dict) or None in patterns:
        return
    known = schema.get("properties", {})
    others = [name for name in instance if name not in known and not any(one.search(name) for one in patterns)]
    if allowed is False and others:
        yield ValidationError(
            f"not allowed: {', '.join(map(repr, others[:5]))}; there are {', '.join(known) or 'none'}"
        )
    elif isinstance(allowed, dict):
        for name in others:
            yield from validator.descend(instance[name], allowed, path=name)


_OWN: Final[Mapping[str, _Keyword]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
_BOUNDED: Final = {
    known: validators.extend(
        known, {name: partial(_counted, keyword) for name, keyword in {**known.VALIDATORS, **_OWN}.items()}
    )
    for known in _DIALECTS.values()
}
