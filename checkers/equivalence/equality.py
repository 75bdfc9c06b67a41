"""Texts that are the same but for spacing, letter case and the shape of a mark: nobody is asked about them."""

import unicodedata
from functools import lru_cache

from checkers.equivalence.trees import is_punctuation
from models.local.tokens import pieces
from models.wording import straightened

_KEPT_FORMS = 1024


@lru_cache(_KEPT_FORMS)
def plain_form(text: str) -> str:
    """The words and plain marks of a text in lower case, a blank between each: equal for texts that are the same."""
    plain = straightened(unicodedata.normalize("NFC", text)).replace("…", "...")
    return " ".join(pieces(plain.casefold()))


def same_text(first: str, second: str) -> bool:
    """True if two texts are equal up to spacing, letter case, and kinds of quotation marks, dashes and dots."""
    return plain_form(first) == plain_form(second)


def holds_words(text: str) -> bool:
    """False if a text is blank or consists of marks."""
    return any(not is_punctuation(piece) for piece in plain_form(text).split())
