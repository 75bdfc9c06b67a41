"""The indefinite article that goes before a word or phrase."""

import re

_MARKS = " \"'“”‘’()[]"
_FIGURE = re.compile(r"8|1[18](?!\d)|1[18]\d\d(?!\d)")
"""Eight and what begins with it, eleven, eighteen, and the years from 1100 and 1800 on."""
_VOWEL = re.compile(
    r"(?!eu|ew|once|one\b|u(?:[bfkrst][aeiou]|ni[cfloqstv]|nanim))[aeiou]|h(?:our|onest|ono[ru]|eir)", re.IGNORECASE
)
"""Read with a vowel first: old, hour; not European, union, one-way."""
_LETTERS = re.compile(r"(?=\w{1,3}\b|[^\WAEIOU]+\b)[AEFHILMNORSX][A-Z]*\b")
"""Spelled with a vowel first: MBA, NFL."""
_OTHER_LETTERS = re.compile(r"(?=\w{1,3}\b)U[A-Z]*\b")


def indefinite_article(phrase: str) -> str:
    """`a` or `an`, whichever goes before the phrase when it is read aloud; opening marks do not count."""
    bare = phrase.strip(_MARKS)
    if any(first.match(bare) for first in (_FIGURE, _LETTERS)):
        return "an"
    return "an" if _VOWEL.match(bare) and not _OTHER_LETTERS.match(bare) else "a"
