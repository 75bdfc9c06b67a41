"""The reference of all settings, docs/configuration.md: `make docs` writes it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from assay.config import all_sections, model_of
from assay.origins import DELIMITER, PREFIX
from checkers.plugin import InstalledCheckers, own_checkers

_OPENING = """\
# Configuration

*Generated from the settings by `make docs`; do not edit.*

assay reads `assay.toml` in the current folder, or the file that `--config FILE` names. Every key can also be set by an
environment variable, which takes precedence. A list is written there with commas (`a,b`) or as JSON (`["a", "b"]`), a
table as JSON, and an empty variable counts as not set. `NAME` stands for a name of your choice. If a subject's name has
other characters than letters and digits, write `_` for them in variables: `[subjects."acme-chat-4.1"]` and
`ASSAY_SUBJECTS__ACME_CHAT_4_1__MODEL`.

`assay config check` prints the configuration in force with the origin of each value, and names every wrong key or
value. A checker of another package adds a section with its name.
"""

_NAME = "NAME"
_WORDS = {
    "integer": "whole number",
    "number": "number",
    "boolean": "`true`, `false`",
    "string": "text",
    "password": "secret text",
    "path": "path",
    "array": "list",
    "object": "table",
}
_BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to", "exclusiveMaximum": "below"}


def document() -> str:
    """The document, Markdown."""
    sections = all_sections(InstalledCheckers(plugins={plugin.name: plugin for plugin in own_checkers()}, broken={}))
    return "\n".join([_OPENING, *_Schema(model_of(sections, BaseModel).model_json_schema()).lines()])


class _Schema:
    """A JSON schema as Markdown."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._told: dict[str, str] = {}

    def lines(self) -> Iterator[str]:
        for name, section in self._root["properties"].items():
            yield from self._inside((name,), section)

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """The schema with its reference followed, and without null among the alternatives."""
        options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
        if len(options) == 1:
            schema = {key: value for key, value in schema.items() if key != "anyOf"} | options[0]
        if "$ref" in schema:
            schema = self._root["$defs"][schema["$ref"].rpartition("/")[2]] | schema
        return dict(schema)

    def _inside(self, path: tuple[str, ...], schema: Any) -> Iterator[str]:
        """The tables at `path`: its own, those by name, or those of a list."""
        schema = self._resolved(schema)
        if "properties" in schema:
            yield from self._table(path, schema)
        elif schema.get("type") == "object":
            yield from self._inside((*path, _NAME), _values(schema))
        elif schema.get("type") == "array":
            yield from self._inside((*path, ""), schema["items"])

    def _table(self, path: tuple[str, ...], schema: dict[str, Any]) -> Iterator[str]:
        keys = {key: self._resolved(value) for key, value in schema["properties"].items()}
        inner = [key for key, value in keys.items() if any(self._inside((*path, key), value))]
        plain = [key for key in keys if key not in inner or keys[key].get("type") == "array"]
        listed = path[-1] == ""
        name = ".".join(step for step in path if step)
        level = "##" if path[1:] in {(), (_NAME,)} else "###"
        yield f"\n{level} `{f'[[{name}]]' if listed else f'[{name}]'}`\n"
        yield _text(schema["description"])
        for told, repeated in self._repeated(name, keys).items():
            they, are = ("key", "is that") if len(repeated) == 1 else ("keys", "are those")
            yield f"\nThe {they} {', '.join(f'`{key}`' for key in repeated)} {are} of `[{told}]`."
            plain, inner = ([key for key in part if key not in repeated] for part in (plain, inner))
        if plain:
            yield "\n| key | value | default | meaning |\n|---|---|---|---|"
        for key in plain:
            variable = f"`{key}`" if listed else f"`{key}`<br>`{PREFIX}{DELIMITER.join((*path, key)).upper()}`"
            default = _default(keys[key], required=key in schema.get("required", ()))
            yield f"| {variable} | {self._value(keys[key])} | {default} | {_text(keys[key]['description'])} |"
        for key in inner:
            yield from self._inside((*path, key), schema["properties"][key])

    def _repeated(self, table: str, keys: Mapping[str, Any]) -> dict[str, list[str]]:
        """Keys that earlier tables have alike, as those of every endpoint are, by the table that tells of them."""
        found: dict[str, list[str]] = {}
        for key in keys:
            first = self._told.setdefault(_identity(key, keys[key]), table)
            if first != table:
                found.setdefault(first, []).append(key)
        return found

    def _value(self, schema: Any) -> str:
        """The allowed values, in words."""
        schema = self._resolved(schema)
        if "anyOf" in schema:
            given = [option for option in schema["anyOf"] if option != {"type": "null"}]
            return " or ".join(map(self._value, given))
        if "properties" in schema:
            return "table"
        if "enum" in schema or "const" in schema:
            return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
        if "type" not in schema:
            return "anything"
        inner = {"array": schema.get("items"), "object": _values(schema)}.get(schema["type"])
        if inner is not None:
            return f"{_WORDS[schema['type']]} of: {self._value(inner)}"
        bounds = [f"{word} {schema[bound]:,}" for bound, word in _BOUNDS.items() if bound in schema]
        return " ".join([_WORDS[schema.get("format", schema["type"])], *bounds])


def _identity(key: str, schema: Any) -> str:
    return json.dumps([key, schema], sort_keys=True)


def _values(table: Mapping[str, Any]) -> Any:
    """The schema of the values of a table with keys of the user's choice, also if these have a pattern."""
    return table.get("additionalProperties") or next(iter(table.get("patternProperties", {}).values()), None)


def _default(schema: Mapping[str, Any], *, required: bool) -> str:
    if required:
        return "required"
    value = schema.get("default", {} if schema.get("type") == "object" else None)
    return "not set" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _text(description: str) -> str:
    return " ".join(description.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(document(), end="")
