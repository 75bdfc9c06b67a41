"""Origins of the configuration's values, what is wrong with them as the user wrote it, and secrets masked."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from models.settings import SECRET_PARAMETER
from schemas import nearest

DEFAULT = "default"
PREFIX = "ASSAY_"
DELIMITER = "__"

_SHOWN = 80
_LIST_TYPES = {"list_type", "tuple_type", "set_type", "frozen_set_type"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The values read from the file and from the environment."""

    file: Path | None
    from_file: Mapping[str, Any]
    variables: Mapping[tuple[str, ...], str]
    """Names of the environment variables, by the path of the key that they set."""

    def of(self, path: tuple[str, ...]) -> str:
        """The origin of a value: an environment variable, the file, or `default`."""
        return self._variable(path) or (str(self.file) if self._in_file(path) else DEFAULT)

    def _named(self, path: tuple[str, ...]) -> str:
        """The key as the user wrote it, and the file that it is in."""
        if (variable := self._variable(path)) is not None:
            return variable
        key = ".".join(map(toml_key, path))
        if self._in_file(path):
            return f"{key} (in {self.file})"
        # A variable may have named the table.
        return next((name for place, name in self.variables.items() if place[: len(path)] == path), key)

    def explained(self, error: ValidationError, settings: type[BaseModel]) -> list[str]:
        """A line for every fault: the key as the user wrote it and where, its value, and what is allowed."""
        return list(dict.fromkeys(self._explained(dict(fault), settings) for fault in error.errors(include_url=False)))

    def _explained(self, fault: dict[str, Any], settings: type[BaseModel]) -> str:
        # Pydantic adds a step where the key itself is at fault.
        path = tuple(str(step) for step in fault["loc"] if step != "[key]")
        named = self._named(path)
        if fault["type"] == "extra_forbidden":
            what, known = "section" if len(path) == 1 else "key", _keys_beside(path, settings)
            if (near := nearest(path[-1], known)) is None:
                return f"{named}: there is no such {what}; allowed are {', '.join(known)}"
            is_variable, meant = named.startswith(PREFIX), (*path[:-1], near)
            meant_as = f"{PREFIX}{DELIMITER.join(meant)}".upper() if is_variable else ".".join(meant)
            return f"{named}: there is no such {what}; did you mean {meant_as}?"
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if fault["type"] in _LIST_TYPES:
            message = 'should be a list: a,b or, as JSON, ["a", "b"]' if self._variable(path) else "should be a list"
        got = ""
        # Whole tables are not echoed: they hold more than the fault, perhaps secrets.
        if fault["type"] != "missing" and not isinstance(fault["input"], Mapping | BaseModel):
            shown = repr(masked(path, fault["input"]))
            got = f" = {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"
        return f"{named}{got}: {message[:1].lower()}{message[1:]}"

    def _variable(self, path: tuple[str, ...]) -> str | None:
        if path[0] == "subjects":
            # Variables cannot have all characters of a subject's name.
            path = (path[0], *map(plain, path[1:2]), *path[2:])
        named = (self.variables.get(path[:length]) for length in range(len(path), 1, -1))
        return next(filter(None, named), None)

    def _in_file(self, path: tuple[str, ...]) -> bool:
        here: Any = self.from_file
        try:
            for step in path:
                here = here[int(step) if isinstance(here, list) else step]
        except (LookupError, TypeError, ValueError):
            return False
        return True


def _keys_beside(path: tuple[str, ...], settings: type[BaseModel]) -> list[str]:
    """The keys that the table has in which the one at `path` is not."""
    for step in path[:-1]:
        field = settings.model_fields.get(step)
        # The name of a table, or its number in a list, is no field.
        settings = settings if field is None else next(_models(field.annotation), settings)
    return [*settings.model_fields]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def toml_key(step: str) -> str:
    """A step of a key's path in TOML."""
    bare = step.isascii() and step.replace("_", "").replace("-", "").isalnum()
    return step if bare else json.dumps(step, ensure_ascii=False)


class _EnvironmentSource(EnvSettingsSource):
    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Parsed JSON, the parts of a list with commas, or the text itself: validation then names what is allowed."""
        if field is not None and _is_plain_list(field.annotation) and not value.lstrip().startswith("["):
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


def from_environment(settings: type[BaseSettings], known_subjects: Iterable[str]) -> dict[str, Any]:
    """The variables as a tree; subjects have the names that they have in the file.

    Models have names such as `acme-chat-4.1`; variables have only letters, digits and underscores.
    """
    # Compose files and charts pass unset variables as empty ones.
    tree = _EnvironmentSource(settings, env_prefix=PREFIX, env_nested_delimiter=DELIMITER, env_ignore_empty=True)()
    if isinstance(subjects := tree.get("subjects"), dict):
        by_plain = {plain(name): name for name in known_subjects}
        tree["subjects"] = {by_plain.get(plain(name), name): value for name, value in subjects.items()}
    return tree


def _is_plain_list(annotation: Any) -> bool:
    """True for a list of anything but tables."""
    items = get_args(annotation)[:1]
    return get_origin(annotation) in {list, tuple, set, frozenset} and not any(
        isinstance(item, type) and issubclass(item, BaseModel) for item in items
    )


def variables() -> dict[tuple[str, ...], str]:
    """The names of the variables that set something, by the path of the key."""
    return {
        tuple(name[len(PREFIX) :].lower().split(DELIMITER)): name
        for name, value in os.environ.items()
        if value and name.upper().startswith(PREFIX) and DELIMITER in name
    }


def misspelt_variables(sections: Mapping[str, Any]) -> Iterator[str]:
    """A line for each variable with one underscore where two are meant, which would silently have no effect."""
    for section, settings in sections.items():
        for key in type(settings).model_fields if isinstance(settings, BaseModel) else ():
            name, meant = (f"{PREFIX}{section}{between}{key}".upper() for between in ("_", DELIMITER))
            # Kubernetes sets ASSAY_HTTP_PORT=tcp://… for a service that is called assay-http.
            if not os.environ.get(name, "tcp://").startswith("tcp://"):
                yield f"the environment variable {name} has no effect; {meant} is meant, with two underscores"


def plain(name: str) -> str:
    """A subject's name as environment variables can spell it."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


MASK = "**********"

_SECRET_KEY = re.compile(r"(^|_)(api_?key|auth|authorization|credentials?|passphrase|password|secret|token)$")
_SECRET_TABLE = re.compile(r"(^|_)headers$")
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


def masked(path: tuple[str, ...], value: Any) -> Any:
    """`value`, the value of the key at `path`, with secrets replaced."""
    if value is None:
        return value
    if _is_secret(path, value):
        return MASK
    if isinstance(value, dict):
        return {key: masked((*path, str(key)), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(path, inner) for inner in value]
    if not isinstance(value, str):
        return value
    return SECRET_PARAMETER.sub(rf"\g<name>={MASK}", _USER_IN_URL.sub(f"{MASK}@", value))


def _is_secret(path: tuple[str, ...], value: Any) -> bool:
    # The last step names a table where a variable is not JSON.
    tables = path if isinstance(value, str) else path[:-1]
    return (
        isinstance(value, SecretStr | SecretBytes)
        or _SECRET_KEY.search(path[-1].lower()) is not None
        or any(_SECRET_TABLE.search(step.lower()) for step in tables)
    )
