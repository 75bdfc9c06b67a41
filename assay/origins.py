"""Origins of the configuration's values, as the user wrote them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.environment import DELIMITER, PREFIX, plain

DEFAULT = "default"


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
        """The key as the user wrote it, or as it would stand in the file if it is not set."""
        if len(path) == 1 and path[0] not in self.from_file:
            # The section is not in the file, so a variable may have named it.
            return next((name for place, name in self.variables.items() if place[0] == path[0]), path[0])
        return self._variable(path) or ".".join(toml_key(step) for step in path)

    def is_variable(self, path: tuple[str, ...]) -> bool:
        """True if an environment variable sets the key."""
        return self._variable(path) is not None

    def set_by(self, path: tuple[str, ...]) -> str:
        """Name of the variable that can set the key."""
        return PREFIX + DELIMITER.join(path).upper()

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


def _spelled(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path as variables spell it: the name of a subject loses the characters that they cannot have."""
    if len(path) > 1 and path[0] == "subjects":
        return (path[0], plain(path[1]), *path[2:])
    return path


def toml_key(step: str) -> str:
    """A step of a key's path as TOML has it."""
    bare = step.isascii() and step.replace("_", "").replace("-", "").isalnum()
    return step if bare else json.dumps(step, ensure_ascii=False)
