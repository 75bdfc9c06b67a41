"""Messages about a wrong configuration: the key as the user wrote it, its value, and what is allowed."""

from collections.abc import Collection, Iterator, Mapping
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from assay.origins import DEFAULT, Origins, masked
from schemas import nearest

Place = tuple[str, ...]

_SHOWN = 80
_LIST_TYPES = {"list_type", "tuple_type", "set_type", "frozen_set_type"}
_LIST_IN_A_VARIABLE = 'should be a list: a,b or, as JSON, ["a", "b"]'


def unknown_keys(tree: Mapping[str, Any], sections: Mapping[str, Any], origins: Origins) -> dict[Place, str]:
    """A line for every key in `tree` that does not exist, with the most similar one that does; by path."""
    return {
        path: f"{named(path, origins)}: there is no such {'section' if len(path) == 1 else 'key'}; "
        f"{_hint(path, known, origins)}"
        for path, known in _unknown((), tree, sections)
    }


def explain(error: ValidationError, origins: Origins, *, known: Collection[Place] = ()) -> list[str]:
    """A line for every fault, without unknown keys at the paths in `known`."""
    lines = []
    for fault in error.errors(include_url=False):
        path = tuple(str(step) for step in fault["loc"])
        if fault["type"] == "extra_forbidden" and path in known:
            continue
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if fault["type"] in _LIST_TYPES:
            message = _LIST_IN_A_VARIABLE if origins.is_variable(path) else "should be a list"
        lines.append(f"{named(path, origins)}{_got(path, fault)}: {message[:1].lower()}{message[1:]}")
    return list(dict.fromkeys(lines))


def named(path: Place, origins: Origins) -> str:
    """The key at `path` as the user wrote it, and where."""
    written = origins.written(path)
    origin = origins.of(path)
    return written if origin in {written, DEFAULT} else f"{written} (in {origin})"


def _got(path: Place, fault: Mapping[str, Any]) -> str:
    value = fault["input"]
    # Whole tables are not echoed: they hold more than the fault, perhaps secrets.
    if fault["type"] == "missing" or isinstance(value, Mapping | BaseModel):
        return ""
    shown = repr(masked(path, value))
    return f" = {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"


def _unknown(path: Place, tree: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[tuple[Place, list[str]]]:
    for key, value in tree.items():
        if key not in known:
            yield (*path, key), list(known)
        else:
            yield from _inside((*path, key), value, known[key])


def _inside(path: Place, value: Any, annotation: Any) -> Iterator[tuple[Place, list[str]]]:
    """The unknown keys of a section, of a table of sections, or of a list of them."""
    if isinstance(value, list):
        for number, inner in enumerate(value):
            for option in get_args(annotation):
                yield from _inside((*path, str(number)), inner, option)
    elif not isinstance(value, Mapping):
        return
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation.model_config.get("extra") != "allow":
            fields = {field.alias or name: field.annotation for name, field in annotation.model_fields.items()}
            yield from _unknown(path, value, fields)
    elif get_origin(annotation) is dict:
        for key, inner in value.items():
            yield from _inside((*path, key), inner, get_args(annotation)[1])
    else:
        # Only validation can tell which of several models is meant.
        options = [option for option in get_args(annotation) if option is not NoneType]
        if len(options) == 1:
            yield from _inside(path, value, options[0])


def _hint(path: Place, known: list[str], origins: Origins) -> str:
    near = nearest(path[-1], known)
    if near:
        meant = (*path[:-1], near)
        return f"did you mean {origins.set_by(meant) if origins.is_variable(path) else '.'.join(meant)}?"
    return f"allowed are {', '.join(known)}"
