"""The rules of English grammar: number of nouns, articles."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect


@cache
def grammar() -> "inflect.engine":
    """The engine of inflect, one for all."""
    # Slow to import.
    import inflect

    return inflect.engine()
