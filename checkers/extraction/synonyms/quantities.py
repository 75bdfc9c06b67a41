"""Another date or number in the form of the first: "May 3, 1871" for "April 25, 1844", "US$ 3.2" for "US$ 1.8"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from checkers.extraction.synonyms.classes import EntityClass, quantity_class
from models.text.dates import MONTHS, WEEKDAYS, calendar_value

_PIECE = re.compile(r"\d++(?:[.,:]\d+)*+(?:(?:st|nd|rd|th)\b)?|[^\W\d_]+", re.IGNORECASE)
_RANGE = re.compile(r"(?<![\d.,:])(\d{1,4})(\s?[-–—]\s?)(\d{1,4})(?![.,:]?\d)")
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
_LAST_YEAR = 2025
_FARTHEST = 40
"""Years between a date and the one in its place, at most."""
_LAST_DAY = 28
"""Every month has it."""
_LAST_CENTURY = 20
"""No day, century or place in an order is out of place up to here."""
_ONE = frozenset({"1", "one"})

_SERIES = (
    ("two", "three", "four", "five", "six", "seven", "eight", "nine"),
    ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    ("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
     "nineteenth"),
    ("twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"),
)  # fmt: skip
"""Numerals that take each other's place."""
_SCALES = ("hundred", "thousand", "million", "billion")


def other_quantity(entity: str, draw: Random) -> str | None:
    """A date or number of the same form with other values; None if there is none, or it would not fit the grammar.

    Separators, units, currencies and the order stay. What counts one thing has none: "seven" would want a plural.
    """
    kind = quantity_class(entity)
    pieces = [found[0].lower() for found in _PIECE.finditer(entity)]
    if kind is None or (kind is EntityClass.NUMBER and _ONE & set(pieces)):
        return None
    only_scale = not any(piece[0].isdigit() or any(piece in series for series in _SERIES) for piece in pieces)
    form = _Form(draw, is_date=kind is EntityClass.DATE, years=_years(entity, draw), only_scale=only_scale)
    span = _RANGE.search(entity)
    if span is not None and kind is EntityClass.NUMBER:
        made = _moved(span, draw)
    else:
        made = _PIECE.sub(lambda found: form.other(found[0]), entity)
    return made if made != entity else None


def _moved(span: re.Match[str], draw: Random) -> str:
    """A range as wide elsewhere, in as many digits."""
    ends = [int(span[1]), int(span[3])]
    digits = [len(span[1]), len(span[3])]
    least, most = min(ends), max(ends)
    moves = [
        move
        for move in range(2 - least, 10 ** max(digits) - most)
        if move and [len(str(end + move)) for end in ends] == digits
    ]
    move = draw.choice(moves) if moves else 0
    text = span.string
    return f"{text[: span.start()]}{ends[0] + move}{span[2]}{ends[1] + move}{text[span.end() :]}"


@dataclass(frozen=True, slots=True)
class _Form:
    """How the pieces of one entity are exchanged."""

    draw: Random
    is_date: bool
    years: int
    """Added to each year, so that a span of time stays as long."""
    only_scale: bool
    """True if the only numeral is a scale: a hundred."""

    def other(self, piece: str) -> str:
        if piece[0].isdigit():
            return self._other_figure(piece)
        for names in (MONTHS, WEEKDAYS):
            if calendar_value(piece, names) is not None:
                return self._cased_like(piece, _same_form(piece.lower(), names))
        lower = piece.lower()
        for series in (*_SERIES, *([_SCALES] if self.only_scale else [])):
            if lower in series:
                return self._cased_like(piece, series)
        return piece

    def _cased_like(self, piece: str, words: Sequence[str]) -> str:
        other = self.draw.choice([word for word in words if word != piece.lower()])
        if piece.isupper() and len(piece) > 1:
            return other.upper()
        return other.capitalize() if piece[0].isupper() else other

    def _other_figure(self, figure: str) -> str:
        if self.is_date and _YEAR.fullmatch(figure):
            return str(int(figure) + self.years)
        if ordinal := _ORDINAL.fullmatch(figure):
            other = self._another(int(ordinal[1]), 2, _LAST_CENTURY)
            return f"{other}{_ordinal_ending(other)}"
        if clock := _CLOCK.fullmatch(figure):
            return f"{self._another(int(clock[1]), 1, 12)}:{self._another(int(clock[2]), 10, 59)}"
        if self.is_date and len(figure) <= 2 and int(figure) <= 31:
            return str(self._another(int(figure), 2, _LAST_DAY))
        return self._other_digits(figure)

    def _another(self, value: int, least: int, most: int) -> int:
        return self.draw.choice([other for other in range(least, most + 1) if other != value])

    def _other_digits(self, figure: str) -> str:
        """As many digits, round where the figure is round; never one."""
        significant = figure.rstrip("0.,:")
        first = next((at for at, sign in enumerate(significant) if sign in "123456789"), None)
        if first is None:
            return figure
        made = "".join(self.draw.choice("123456789") if sign.isdigit() else sign for sign in significant[first + 1 :])
        leading = self.draw.choice([digit for digit in "23456789" if digit != significant[first]])
        return significant[:first] + leading + made + figure[len(significant) :]


def _years(entity: str, draw: Random) -> int:
    """How far all years of a date are moved."""
    years = [int(year) for year in re.findall(rf"(?<!\d)(?:{_YEAR.pattern})", entity)]
    latest, earliest = max(years, default=0), min(years, default=0)
    step = 10 if years and re.search(r"\d0s", entity) else 1
    moves = [
        move
        for move in range(-_FARTHEST, _FARTHEST + 1, step)
        if move and latest + move <= max(_LAST_YEAR, latest) and earliest + move >= min(1000, earliest)
    ]
    return draw.choice(moves)


def _same_form(name: str, names: Mapping[str, int]) -> list[str]:
    """Names as long or as short as this one: March for April, Mar for Apr."""
    longest: dict[int, str] = {}
    for other, value in names.items():
        longest[value] = max(longest.get(value, ""), other, key=len)
    full = set(longest.values())
    return [other for other in names if (other in full) == (name in full)]


def _ordinal_ending(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
