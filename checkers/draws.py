"""Repeatable random draws, each from a seed and a purpose, and the text of values that seeds are made of."""

import hashlib
import json
import random
from typing import Any

_SEED_DIGITS = 32


def canonical(value: Any) -> str:
    """One text for equal JSON values, whatever the order of keys; integers of any size."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def seed_of(*parts: Any) -> str:
    """The seed of all draws about one thing, from the configured seed and what identifies the thing."""
    return hashlib.sha256(canonical(list(parts)).encode()).hexdigest()[:_SEED_DIGITS]


def uniform(seed: str, purpose: str) -> float:
    """A number of at least 0 and below 1, unpredictable without the seed."""
    drawn = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(drawn[:7], "big") / 256**7


def generator(seed: str, purpose: str) -> random.Random:
    """A generator for many draws for one purpose."""
    return random.Random(f"{seed}/{purpose}")  # noqa: S311 - what must not be foreseen comes from `uniform`
