"""Identifiers derived from content: the same in every process and after every redelivery."""

import hashlib
from typing import Any

import orjson

_CANONICAL = orjson.OPT_SORT_KEYS


def digest(content: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of `content`: keys sorted, no white space."""
    return hashlib.sha256(orjson.dumps(content, option=_CANONICAL)).hexdigest()


def content_id(prefix: str, content: Any) -> str:
    """An id such as `rec-1f0c…`: the prefix and the first 128 bits of the content's digest."""
    return f"{prefix}-{digest(content)[:32]}"


def verdict_id(source: str, record_id: str, checker: str, config_digest: str) -> str:
    """The id of a verdict. Record ids are unique within their source only, so the source is part of it."""
    return content_id("ver", [source, record_id, checker, config_digest])
