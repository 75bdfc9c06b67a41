"""Which words of two texts differ."""

from typing import Literal

from schemas.base import Wire


class WordDifference(Wire):
    """One place where two texts have other words, or the same words elsewhere."""

    kind: Literal["replaced", "added", "removed", "moved"]
    """How `matched` differs from `query`: words in the place of others, more words, fewer, or in another order."""
    query: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
