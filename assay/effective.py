"""The configuration in force as TOML, secrets masked, with the origin of each value."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from assay.config import Configuration
from assay.origins import Origins, masked, toml_key

_COMMENT_AT = 44


def lines(configuration: Configuration) -> Iterator[str]:
    """Its lines, without line breaks."""
    origins = configuration.origins
    read = [str(origins.file)] if origins.file else []
    if origins.variables:
        read.append(f"{len(origins.variables)} environment variable(s)")
    yield f"# read: {', '.join(read) or 'nothing; these are the defaults'}"
    yield f"# checkers: {', '.join(configuration.installed.plugins) or 'none installed'}"
    for name, section in configuration.sections.items():
        if section:
            yield ""
            yield from _table((name,), section, origins)


def _table(path: tuple[str, ...], table: BaseModel | Mapping[str, Any], origins: Origins) -> Iterator[str]:
    """The table's own keys first, then the tables in it, as TOML requires."""
    # By its iterator, as a section may have a key that is called `keys`.
    items = dict(iter(table)) if isinstance(table, BaseModel) else table
    inner = {key: value for key, value in items.items() if isinstance(value, BaseModel | Mapping) and value}
    keys = [key for key in items if key not in inner]
    if keys or not inner:
        yield f"[{'.'.join(toml_key(step) for step in path)}]"
    for key in keys:
        value = masked((*path, key), items[key])
        line = f"# {toml_key(key)} is not set" if value is None else f"{toml_key(key)} = {_value(value)}"
        origin = origins.of((*path, key))
        yield line if value is None and origin == "default" else f"{line:<{_COMMENT_AT}}  # {origin}"
    for key, value in inner.items():
        if keys:
            yield ""
        shown = value if isinstance(value, BaseModel) else masked((*path, key), value)
        yield from _table((*path, key), shown, origins)


def _value(value: Any) -> str:
    if isinstance(value, BaseModel):
        return _value(value.model_dump(exclude_none=True))
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{toml_key(key)} = {_value(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False)
