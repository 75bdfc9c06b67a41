"""Cutting a sentence into words and marks as the Penn Treebank does, with their places; nothing but blanks is lost."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
      (?:https?://|www\.)\S*[\w/]                             # addresses
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | [-+]?\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|pc)?(?:[-–]\w+)*(?!\w)
    | (?:[^\W\d_]\.){2,}                                      # points within: U.S., a.m.
    | \w+?(?=n['’]t\b)                                        # the do of don't
    | n['’]t\b
    | (?<=\w)['’](?:s|m|d|re|ve|ll)\b
    | (?:\w+['’])?\w+(?:[-–]\w+(?:['’](?!s\b)\w+)?)*
    | \.{2,}
    | -{2,}
    | ''|``
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OF_VERB = re.compile(r"(.+)(['’](?:s|m|d|re|ve|ll))", re.IGNORECASE | re.DOTALL)

_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_SHORT = 4
"""Letters of what a point shortens."""


def cut(sentence: str) -> Iterator[tuple[str, int]]:
    """Each token, and the character at which it begins."""
    pending: tuple[str, int] | None = None
    for match in _TOKEN.finditer(sentence):
        token, start = match.group(), match.start()
        if pending is not None:
            is_glued = pending[1] + len(pending[0]) == start
            if is_glued and sentence[start : match.end()] == "." and _shortens(sentence, pending[0], start):
                yield f"{pending[0]}.", pending[1]
                pending = None
                continue
            yield from _parts(*pending)
        pending = (token, start)
    if pending is not None:
        yield from _parts(*pending)


def _parts(token: str, start: int) -> Iterator[tuple[str, int]]:
    """O'Neil's is O'Neil and 's; we've is we and 've."""
    match = _OF_VERB.fullmatch(token)
    if match is None:
        yield token, start
    else:
        yield match.group(1), start
        yield match.group(2), start + match.start(2)


def _shortens(sentence: str, word: str, point: int) -> bool:
    """Whether the point behind a word makes it an abbreviation and does not end the sentence."""
    after = sentence[point + 1 : point + 40].lstrip()
    if not after or not word.isalpha():
        return False
    if after[0].islower() or after[0].isdigit() or after[0] in ",;:('’":
        return True
    if len(word) <= _SHORT and not _VOWEL.search(word):
        return True
    return word[0].isupper() and len(word) <= _SHORT and after[0].isalpha()
