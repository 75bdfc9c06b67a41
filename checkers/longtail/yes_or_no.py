"""Reading an answer to a probe: one of six words, or nothing."""

import re

AFFIRMING = frozenset({"yes", "true", "right"})
DENYING = frozenset({"no", "false", "wrong"})

_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DRESS = " \t\r\n\"'“”‘’`*_"
"""Quotation marks, and what Markdown sets bold."""
_ENDS = ".,!;:—–"
"""Marks that may stand behind the word that answers."""


class Unparsable(ValueError):
    """Neither yes nor no."""


def meaning(answer: str) -> bool:
    """True for yes, true and right, False for no, false and wrong, in any letter case.

    The word must open the answer. What follows it, behind a mark of punctuation, may explain it, but names none of the
    six words again: “Yes and no” and “No, that is wrong” are no answers.

    Raises:
        Unparsable: it is none of this.
    """
    text = answer.strip(_DRESS)
    opening = _WORDS.match(text)
    if opening is None:
        raise Unparsable("no word opens the answer")
    word = opening[0].casefold()
    rest = text[opening.end() :].lstrip(_DRESS)
    if word not in AFFIRMING | DENYING or (rest and rest[0] not in _ENDS):
        raise Unparsable("the answer does not begin with yes or no, true or false, right or wrong")
    if any(other.casefold() in AFFIRMING | DENYING for other in _WORDS.findall(rest)):
        raise Unparsable("the answer says it twice")
    return word in AFFIRMING
