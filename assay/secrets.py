"""Secrets: which keys hold them, and values without them."""

import re
from typing import Any

from pydantic import SecretBytes, SecretStr

from models.settings import SECRET_PARAMETER

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
        # A table that a variable holds and that is no JSON.
        or (isinstance(value, str) and _SECRET_TABLE.search(path[-1].lower()) is not None)
    )
