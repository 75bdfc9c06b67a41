"""Texts that are the same but for spacing and letter case: nobody needs to be asked about them."""

import unicodedata
from functools import lru_cache

from checkers.equivalence.trees import is_punctuation
from models.text.tokens import pieces

_KEPT_FORMS = 1024


@lru_cache(_KEPT_FORMS)
def plain_form(text: str) -> str:
    """The words and marks of a text in lower case, a blank between each: equal for texts that are the same."""
    return " ".join(pieces(unicodedata.normalize("NFC", text).casefold()))


def same_text(first: str, second: str) -> bool:
    """True if two texts are equal up to spacing and letter case."""
    return plain_form(first) == plain_form(second)


def holds_words(text: str) -> bool:
    """False if a text is blank or consists of marks."""
    return any(not is_punctuation(piece, "") for piece in plain_form(text).split())
