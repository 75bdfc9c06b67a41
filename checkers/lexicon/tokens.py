"""Text cut into words and punctuation as the Penn Treebank cuts it: contractions are two words."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    [-+]?[$€£]?\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|%)?(?![\w-])   # numbers, dates, times
    | (?:[^\W\d_]\.){2,}                               # abbreviations with their points: u.s.
    | \w+(?=n['’]t\b)                                 # do in "don't"
    | n['’]t\b
    | ['’](?:s|m|d|re|ve|ll)\b
    | \w+(?:[-–]\w+)*                                 # words, also hyphenated
    | [^\w\s]+?                                       # punctuation, a mark at a time
    """,
    re.VERBOSE | re.IGNORECASE,
)


def tokens(text: str) -> list[str]:
    """The words and marks of a text in its own case, in order."""
    return [token for token, _ in placed(text)]


def placed(text: str) -> Iterator[tuple[str, int]]:
    """The words and marks of a text with where they begin; each is as long as there, its apostrophes are straight."""
    return ((match.group(), match.start()) for match in _TOKEN.finditer(text.replace("’", "'")))
