"""The indefinite article that goes before a word or phrase."""

import re

from models.text.grammar import grammar

_MARKS = " \"'“”‘’()[]"
_FIGURE_WITH_A_VOWEL = re.compile(r"8|1[18](?!\d)|1[18]\d\d(?!\d)")
"""Eight and what begins with it, eleven, eighteen, and the years from 1100 and 1800 on."""


def indefinite_article(phrase: str) -> str:
    """`a` or `an`, whichever goes before the phrase when it is read aloud; opening marks do not count."""
    bare = phrase.strip(_MARKS)
    if not bare[:1].isalpha():
        return "an" if _FIGURE_WITH_A_VOWEL.match(bare) else "a"
    return str(grammar().a(bare)).partition(" ")[0]
