"""The name that somebody probably meant."""

import difflib
from collections.abc import Sequence


def nearest(name: str, known: Sequence[str], *, likeness: float = 0.6) -> str | None:
    """The one of `known` that is most like `name`; None if none is at least so alike (1: but for capitals the same)."""
    return next(iter(difflib.get_close_matches(name.lower(), known, n=1, cutoff=likeness)), None)
