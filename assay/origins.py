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
_LIST_IN_A_VARIABLE = 'should be a list: a,b or, as JSON, ["a", "b"]'


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

    def written(self, path: tuple[str, ...]) -> str:
        """The key as the user wrote it, or as it would be in the file if it is not set."""
        if len(path) == 1 and path[0] not in self.from_file:
            # The section is not in the file, so a variable may have named it.
            return next((name for place, name in self.variables.items() if place[0] == path[0]), path[0])
        return self._variable(path) or ".".join(toml_key(step) for step in path)

    def explained(self, error: ValidationError, settings: type[BaseModel]) -> list[str]:
        """A line for every fault: the key as the user wrote it and where, its value, and what is allowed."""
        return list(dict.fromkeys(self._explained(dict(fault), settings) for fault in error.errors(include_url=False)))

    def _explained(self, fault: dict[str, Any], settings: type[BaseModel]) -> str:
        path = tuple(str(step) for step in fault["loc"])
        written, origin = self.written(path), self.of(path)
        named = written if origin in {written, DEFAULT} else f"{written} (in {origin})"
        if fault["type"] == "extra_forbidden":
            what = "section" if len(path) == 1 else "key"
            return f"{named}: there is no such {what}; {self._hint(path, _keys_beside(path, settings))}"
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if fault["type"] in _LIST_TYPES:
            message = _LIST_IN_A_VARIABLE if self._variable(path) else "should be a list"
        got = ""
        # Whole tables are not echoed: they hold more than the fault, perhaps secrets.
        if fault["type"] != "missing" and not isinstance(fault["input"], Mapping | BaseModel):
            shown = repr(masked(path, fault["input"]))
            got = f" = {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"
        return f"{named}{got}: {message[:1].lower()}{message[1:]}"

    def _hint(self, path: tuple[str, ...], known: list[str]) -> str:
        if (near := nearest(path[-1], known)) is None:
            return f"allowed are {', '.join(known)}"
        meant = (*path[:-1], near)
        return f"did you mean {PREFIX + DELIMITER.join(meant).upper() if self._variable(path) else '.'.join(meant)}?"

    def _variable(self, path: tuple[str, ...]) -> str | None:
        for length in range(len(path), 1, -1):
            found = self.variables.get(_spelled(path[:length]))
            if found:
                return found
        return None

    def _in_file(self, path: tuple[str, ...]) -> bool:
        here: Any = self.from_file
        for step in path:
            if isinstance(here, list) and step.isdecimal() and int(step) < len(here):
                here = here[int(step)]
            elif isinstance(here, Mapping) and step in here:
                here = here[step]
            else:
                return False
        return True


def _keys_beside(path: tuple[str, ...], settings: type[BaseModel]) -> list[str]:
    """The keys that the table has in which the one at `path` is not."""
    for step in path[:-1]:
        field = settings.model_fields.get(step)
        # The name of a table, or its number in a list, is no field.
        settings = settings if field is None else next(_models(field.annotation), settings)
    return [field.alias or name for name, field in settings.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _spelled(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path as variables spell it: a subject's name loses the characters that they cannot have."""
    if len(path) > 1 and path[0] == "subjects":
        return (path[0], plain(path[1]), *path[2:])
    return path


def toml_key(step: str) -> str:
    """A step of a key's path in TOML."""
    bare = step.isascii() and step.replace("_", "").replace("-", "").isalnum()
    return step if bare else json.dumps(step, ensure_ascii=False)


class EnvironmentSource(EnvSettingsSource):
    """Reads the variables as a tree."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        super().__init__(
            settings,
            case_sensitive=False,
            env_prefix=PREFIX,
            env_nested_delimiter=DELIMITER,
            # Compose files and charts pass unset variables as empty ones.
            env_ignore_empty=True,
        )

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Parsed JSON, the parts of a list with commas, or the text itself: validation then names what is allowed."""
        if field is not None and _is_plain_list(field.annotation) and not value.lstrip().startswith("["):
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


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


def misspelt_variables(sections: Mapping[str, type[BaseModel]]) -> list[str]:
    """A line for each variable with one underscore where two are meant, which would silently have no effect."""
    meant = {
        f"{PREFIX}{section}_{key}".upper(): f"{PREFIX}{section}{DELIMITER}{key}".upper()
        for section, settings in sections.items()
        for key in settings.model_fields
    }
    return [
        f"the environment variable {name} has no effect; {meant[name.upper()]} is meant, with two underscores"
        for name, value in sorted(os.environ.items())
        # Kubernetes sets ASSAY_HTTP_PORT=tcp://… for a service that is called assay-http.
        if name.upper() in meant and not value.startswith("tcp://")
    ]


def rename_subjects(tree: dict[str, Any], known: Iterable[str]) -> None:
    """Give subjects in `tree` the names that they have in the file.

    Models have names such as `acme-chat-4.1`; variables have only letters, digits and underscores.
    """
    subjects = tree.get("subjects")
    if not isinstance(subjects, dict):
        return
    by_plain = {plain(name): name for name in known}
    tree["subjects"] = {by_plain.get(plain(name), name): value for name, value in subjects.items()}


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
    return (
        isinstance(value, SecretStr | SecretBytes)
        or _SECRET_KEY.search(path[-1].lower()) is not None
        or any(_SECRET_TABLE.search(step.lower()) for step in path[:-1])
        # A table in a variable that is not JSON.
        or (isinstance(value, str) and _SECRET_TABLE.search(path[-1].lower()) is not None)
    )
