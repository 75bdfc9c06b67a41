"""The one way in which text is cut into words and marks."""

import re
from typing import NamedTuple

_PIECE = re.compile(
    r"""
    \d+(?:[.,:]\d+)*(?:st|nd|rd|th|s|m|k|bn|mn)?(?![^\W_])      # 1,000, 12:30, 19th, 1980s, 5m
    | (?:[^\W\d_]\.){2,}                                      # U.S., a.m.
    | [^\W_]+?(?=n't\b)                                         # do in "don't"
    | n't\b
    | '(?:s|m|d|re|ve|ll)\b
    | [^\W_]+(?:'(?!(?:s|m|d|re|ve|ll)\b)[^\W\d_]+)*            # also O'Neil
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Where two pieces without a blank between them make one token: at a hyphen within a word, a currency or sign before
# digits, a per cent sign behind them, and in 22/11/2026.
_WITHIN_TOKEN = re.compile(
    r"(?<=[^\W_])(?=[-–][^\W_])|(?<=[^\W_][-–])|(?<=[$€£¥])(?=\d)|(?<![^\W_][-+])(?<=[-+])(?=[$€£¥]?\d)|(?<=\d)(?=%)"
    r"|(?<=\d)(?=/\d)|(?<=\d/)(?=\d)"
)


class Token(NamedTuple):
    """A word or mark, with straight apostrophes, and where it begins and ends in the text."""

    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Words and marks as the Penn Treebank cuts them: contractions are two, hyphenated words and $3.50 are one."""
    straight, found = text.replace("’", "'"), list[Token]()
    for piece in _PIECE.finditer(straight):
        start = piece.start()
        if found and found[-1].end == start and _WITHIN_TOKEN.match(straight, start):
            start = found.pop().start
        found.append(Token(straight[start : piece.end()], start, piece.end()))
    return found


def pieces(text: str) -> list[str]:
    """Words, figures and single marks, the same ones with or without blanks around the marks."""
    return _PIECE.findall(text.replace("’", "'"))
