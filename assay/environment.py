"""Configuration from environment variables: `ASSAY_<SECTION>__<KEY>`."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

PREFIX = "ASSAY_"
DELIMITER = "__"

Path = tuple[str, ...]


class EnvironmentSource(EnvSettingsSource):
    """Reads the variables as a tree."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        super().__init__(
            settings,
            case_sensitive=False,
            env_prefix=PREFIX,
            env_nested_delimiter=DELIMITER,
            # Compose files and charts pass on variables that are not set.
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


def variables() -> dict[Path, str]:
    """The variables that set something: their names as written, by the path of the key."""
    return {
        tuple(name[len(PREFIX) :].lower().split(DELIMITER)): name
        for name, value in os.environ.items()
        if value and name.upper().startswith(PREFIX) and DELIMITER in name
    }


def slips(sections: Mapping[str, type[BaseModel]]) -> list[str]:
    """A line for each variable with one underscore where two are meant, which would have no effect without a word."""
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
