"""Texts of others in what people read: within a sentence, and on a terminal."""

import re
import shutil
import textwrap

_INDENT = 9
_NARROWEST, _WIDEST = 40, 100
"""Columns: in fewer nothing can be laid out, and longer lines are hard to read."""

_LONGEST = 400
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")


def explanation_width() -> int:
    """Columns of an explanation's lines: the terminal's (80 without one), less the command line's indent."""
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
