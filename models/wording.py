"""Texts of others and counts within a sentence."""

import re

# Signs that models straighten when they copy a text: quotation marks, dashes, spaces.
_STRAIGHT = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟«»″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\N{SOFT HYPHEN}\N{ZERO WIDTH SPACE}\N{WORD JOINER}\N{ZERO WIDTH NO-BREAK SPACE}")
)
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_line(text: str, most: int = 120) -> str:
    """A text with its white space as single blanks, cut off where it has more than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def first_line(error: BaseException) -> str:
    """The first line of an error's message without terminal codes; its class if the message is empty."""
    return next(iter(_TERMINAL_CODE.sub("", str(error)).strip().splitlines()), type(error).__name__)


def counted(number: int, noun: str) -> str:
    """`1 line`, `2 lines`; for nouns with a plural in -s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def straightened(text: str) -> str:
    """The text with plain quotation marks, hyphens for dashes, and single blanks for all white space.

    A model that repeats a text may give any of these for the others: texts that are equal in this form are copies.
    """
    return " ".join(text.translate(_STRAIGHT).split())
