"""Texts of others in what people read: within a sentence, and on a terminal."""

import re
import shutil
import textwrap

_INDENT = 9
_NARROWEST, _WIDEST = 40, 100
"""Columns: in fewer nothing can be laid out, and longer lines are hard to read."""

_LONGEST = 400
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")


def explanation_width() -> int:
    """Columns of an explanation's lines: the terminal's (80 without one), less what the front door puts before them."""
    columns = shutil.get_terminal_size((80, 24)).columns
    return min(max(columns, _NARROWEST), _WIDEST) - _INDENT


def plain(text: str) -> str:
    """`text` on one line, without what terminals act on: it must not move the cursor or change colours."""
    return _CONTROLS.sub(" ", text)


def labelled(label: str, text: str) -> list[str]:
    """`text` as a paragraph of an explanation, `label` before its first line, cut off after 400 characters."""
    return textwrap.wrap(
        textwrap.shorten(plain(text), _LONGEST, placeholder=" …"),
        explanation_width(),
        initial_indent=label,
        subsequent_indent=" " * len(label),
    )


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
