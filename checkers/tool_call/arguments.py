"""The arguments of a call: read, one by one, with what the tool's schema says of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from models.wording import on_a_line

_MOST_STEPS = 8
"""References and alternatives between an argument and its description."""

_SHOWN = 400

Schema = Mapping[str, JsonValue]


class Unparsable(ValueError):
    """The subject's words are not a JSON object."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A value that stands in no other object."""

    name: str
    """With the names before it, such as `address.city`."""
    value: JsonValue
    schema: Schema

    @property
    def text(self) -> str:
        """The value if it is a text, else its JSON."""
        return self.value if isinstance(self.value, str) else orjson.dumps(self.value).decode()

    @property
    def shown(self) -> str:
        return on_a_line(self.text, _SHOWN)

    @property
    def description(self) -> str:
        found = self.schema.get("description")
        return on_a_line(found) if isinstance(found, str) else ""

    @property
    def is_empty(self) -> bool:
        """True if it says nothing."""
        return self.value is None or self.value in ("", [], {}) or "const" in self.schema

    @property
    def is_choice(self) -> bool:
        """True if the subject may choose it without being asked: a default, one of a few values, yes or no."""
        return "enum" in self.schema or isinstance(self.value, bool) or self.schema.get("default", ...) == self.value


def parsed(arguments: Mapping[str, JsonValue] | str) -> Mapping[str, JsonValue]:
    """The arguments as an object; nothing at all stands for an empty one, as some endpoints have it.

    Raises:
        Unparsable: they are none.
    """
    if isinstance(arguments, Mapping):
        return arguments
    try:
        found = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError as error:
        raise Unparsable(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(found, dict):
        raise Unparsable(f"JSON, but not an object: {on_a_line(arguments)}")
    return found


def listed(arguments: Mapping[str, JsonValue], schema: Schema | None) -> Iterator[Argument]:
    """The arguments in order, those of objects within instead of the objects."""
    yield from _listed(arguments, schema or {}, schema or {}, "")


def _listed(values: Mapping[str, JsonValue], schema: Schema, root: Schema, before: str) -> Iterator[Argument]:
    known = schema.get("properties")
    for name, value in values.items():
        inner = _resolved(known.get(name) if isinstance(known, dict) else None, root)
        if isinstance(value, dict) and value:
            yield from _listed(value, inner, root, f"{before}{name}.")
        else:
            yield Argument(f"{before}{name}", value, inner)


def _resolved(schema: JsonValue, root: Schema) -> Schema:
    """The schema behind references within `root`, and of alternatives the first that is more than null."""
    found: Schema = {}
    for _ in range(_MOST_STEPS):
        if not isinstance(schema, dict):
            break
        # What stands next to a reference, such as a description, counts first.
        found = {**schema, **found}
        match schema:
            case {"$ref": str(ref)}:
                schema = _at(root, ref)
            case {"anyOf": [*inner]} | {"oneOf": [*inner]} | {"allOf": [*inner]}:
                schema = next((one for one in inner if isinstance(one, dict) and one.get("type") != "null"), None)
            case _:
                break
    return found


def _at(root: Schema, ref: str) -> JsonValue:
    found: JsonValue = dict(root)
    for step in ref.removeprefix("#/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found
