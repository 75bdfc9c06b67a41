"""Texts of others on a page, as text whatever is in them and no longer than a person reads; and its own words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import orjson
from markupsafe import Markup, escape

NAMED = ("source", "model", "checker")  # names of what lists are narrowed down by

OUTCOMES = {"accept": ("✓", "accepted"), "reject": ("✗", "rejected"), "abstain": ("○", "undecided")}
"""Sign and word of each outcome."""

ALERTS = {
    "trust_drop": ("reject", "▼", "dropped"),
    "trust_recovery": ("accept", "▲", "recovered"),
    "version_worse": ("reject", "▼", "version worse"),
    "series_anew": ("abstain", "◆", "reset"),
    "true_rate": ("reject", "◆", "true rate"),
}
"""Look, sign and word of each kind of alert."""

REASON = 160  # Characters of a reason in a list.

FINDINGS = {"fine": ("✓", "consistent"), "fault": ("✗", "not consistent"), "open": ("○", "left open")}
"""Sign and word of each look of a sentence."""

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))

LONGEST = 20_000  # Characters of a text that a page shows. The whole of it is a link away.
_AROUND = 1_000  # Characters of a long text that stay at each end of a stretch.

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Characters that cannot be seen, and turn, hide or join what can."""


def _told(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"


def plain(text: str) -> str:
    """`text` with what cannot be seen spelled out."""
    return _UNSEEN.sub(_told, text)


def visible(text: object) -> Markup:
    """`text` as HTML, whatever is in it, with what cannot be seen spelled out."""
    return Markup(_UNSEEN.sub(_control, str(escape(str(text)))))  # noqa: S704 - escaped before


def _control(found: re.Match[str]) -> str:
    name = unicodedata.name(found[0], "control character").lower()
    return f'<span class="control" title="{name}">{_told(found)}</span>'


def shortened(text: str, most: int) -> str:
    """The beginning of `text`, on one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def as_text(value: Any) -> str:
    """A value of JSON for a person: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


class MarkedSpan(NamedTuple):
    """A place of a text, in code points, and the number that it is marked with."""

    start: int
    end: int
    number: int


class Piece(NamedTuple):
    """A stretch of a text that is marked with the same numbers throughout."""

    text: str
    numbers: tuple[int, ...] = ()
    begins: tuple[int, ...] = ()
    """Those of `numbers` that no earlier piece has."""
    left_out: int = 0
    """Characters that are not shown, in place of a text."""


def pieces(text: str, spans: Iterable[MarkedSpan]) -> Iterator[Piece]:
    """`text` cut at the ends of `spans`; of a long text what is far from them is left out."""
    inside = [span for span in spans if 0 <= span.start < span.end <= len(text)]
    cuts = sorted({0, len(text), *(span.start for span in inside), *(span.end for span in inside)})
    seen: set[int] = set()
    for start, end in pairwise(cuts):
        numbers = tuple(sorted({span.number for span in inside if span.start <= start and end <= span.end}))
        begins = tuple(number for number in numbers if number not in seen)
        seen.update(numbers)
        piece = Piece(text[start:end], numbers, begins)
        if len(text) <= LONGEST or end - start <= 2 * _AROUND:
            yield piece
        else:
            yield piece._replace(text=piece.text[:_AROUND])
            yield Piece("", left_out=end - start - 2 * _AROUND)
            yield Piece(piece.text[-_AROUND:], numbers)


def place(text: str, passage: str) -> tuple[int, int] | None:
    """Where `passage` stands in `text`, perhaps with other white space; None if it does not."""
    words = passage.split()
    if not words or len(passage) > LONGEST:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return None if found is None else found.span()


def clock(moment: datetime) -> str:
    """Date and time, UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def length_of(seconds: int) -> str:
    """A length of time in its largest whole unit."""
    unit, length = next(each for each in _UNITS if seconds % each[1] == 0)
    number = seconds // length
    return f"{number} {unit}" + "s" * (number != 1)


def ago(time: timedelta) -> str:
    """A time that has passed, roughly."""
    seconds = int(time.total_seconds())
    for unit, length in _UNITS[:-1]:
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s ago"
    return f"{length_of(max(seconds, 0))} ago" if seconds else "now"


def percent(share: float) -> str:
    """A share with one digit behind the point; only all of it is 100%."""
    shown = f"{100 * share:.1f}%"
    return "99.9%" if shown == "100.0%" and share < 1 else shown.replace(".0%", "%")


def points(change: float) -> str:
    """A difference of two rates, in percentage points with its sign."""
    return f"{100 * change:+.1f}".replace("-", "−")
