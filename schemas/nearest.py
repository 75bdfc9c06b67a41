"""The name that someone probably meant."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The one of `known` that is most like `name`, capitals aside; None if none is at least so alike (1: the same)."""
    by_plain = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_plain, n=1, cutoff=likeness)
    return by_plain[near[0]] if near else None
