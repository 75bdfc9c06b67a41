"""The rules of English grammar: number of nouns, articles."""

import sys
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect


@cache
def grammar() -> "inflect.engine":
    """The engine of inflect, one for all."""
    # As it is imported, typeguard parses all of it again for each of its functions: two seconds of computing.
    unchecked = ModuleType("typeguard")
    unchecked.__dict__["typechecked"] = lambda function: function
    found = sys.modules.get("typeguard")
    sys.modules["typeguard"] = unchecked
    try:
        import inflect
    finally:
        if found is None:
            del sys.modules["typeguard"]
        else:
            sys.modules["typeguard"] = found
    return inflect.engine()
