"""Numbers in a text as values, however they are written: "1,000", "1 thousand" and "a thousand" are one number."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from checkers.oracle.local.lexicon import APPROXIMATORS
from checkers.oracle.local.text import Word

ROUNDING = 0.06
"""Share by which a number behind "about", "nearly" or "over" may differ from the reference's."""

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
        "sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=3,
    )
}
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "m": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
}
_MEASURES = frozenset(
    "day week month hour minut second percent per euro dollar pound cent metr mil kilometr kilogram ton degre".split()
)
"""Stems of units: what is counted in them is measured, not summed up by the writer."""
_DIGITS = re.compile(r"(\d+(?:[.,:]\d+)*)(st|nd|rd|th|s|m|k|bn|mn)?")
_YEAR = re.compile(r"(1\d|20)\d\ds?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number a text states."""

    value: float
    first: int
    last: int
    """Positions of its first and last word."""
    digits: bool
    """Exact: written in digits, with a scale word or a unit, or above twelve; not a small count in words."""
    rounded: bool
    """Said to be approximate."""


def is_year(word: Word) -> bool:
    """Whether a figure is written as years are: four digits without a sign, or a decade."""
    return _YEAR.fullmatch(word.surface) is not None


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """The numbers of a text, in order; a lone "one" is taken for a pronoun and left out."""
    found = []
    position = 0
    while position < len(words):
        number = _number(words, position)
        if number is None:
            position += 1
            continue
        value, end, digits = number
        if not (words[position].surface.lower() == "one" and end == position + 1):
            rounded = any(word.stem in APPROXIMATORS for word in words[max(0, position - 2) : position])
            measured = end < len(words) and words[end].stem in _MEASURES
            found.append(Quantity(value, position, end - 1, digits or measured or value > 12, rounded))
        position = end
    return found


def _number(words: Sequence[Word], start: int) -> tuple[float, int, bool] | None:
    """Value, position behind it, and whether it is written in digits; None where no number starts."""
    first = words[start].surface.lower()
    match = _DIGITS.fullmatch(first)
    position = start + 1
    if match:
        value, digits = _digits(match.group(1)) * _SCALES.get(match.group(2) or "", 1.0), True
    elif first in _ORDINALS:
        return float(_ORDINALS[first]), position, False
    elif first in _UNITS or first in _TENS:
        value, digits = float(_UNITS.get(first, _TENS.get(first, 0))), False
        if first in _TENS and position < len(words) and 0 < _UNITS.get(words[position].surface.lower(), 0) < 10:
            value += _UNITS[words[position].surface.lower()]
            position += 1
    elif first in {"hundred", "thousand", "million", "billion"} and start and words[start - 1].stem == "a":
        return _SCALES[first], position, True
    else:
        return None
    while position < len(words) and (scale := _SCALES.get(words[position].surface.lower())):
        value, digits = value * scale, True
        position += 1
        rest = position + (position < len(words) and words[position].stem == "and")
        tail = _number(words, rest) if rest < len(words) and scale < 1e6 and not match else None
        if tail and tail[0] < scale:
            value, position = value + tail[0], tail[1]
    return value, position, digits


def _digits(text: str) -> float:
    if ":" in text:
        hours, _, minutes = text.partition(":")
        return _digits(hours) + (_digits(minutes) if minutes else 0.0) / 60
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    elif text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    else:
        text = text.replace(",", "")
    whole, _, fraction = text.partition(".")
    return float(f"{whole[:300]}.{fraction.replace('.', '')[:18] or 0}")


def spaced_quantities(words: Sequence[Word], known: Sequence[Quantity]) -> list[Quantity]:
    """Numbers that tokenised articles tear apart ("1, 000", "98. 7"), read together again.

    Only for a reference: there a reading too many can hide an error, but never makes one up.
    """
    found = []
    for left, right in itertools.pairwise(known):
        if right.first != left.last + 1 or not (left.digits and right.digits):
            continue
        a, b = words[left.last].surface, words[right.first].surface
        if not (a.isdigit() and b.isdigit() and words[right.first].start - words[left.last].end == 2):
            continue
        scale = right.value / float(b) if float(b) else 1.0
        joined = [float(f"{a[-12:]}.{b[:12]}") * scale]
        if len(b) == 3:
            joined.append(left.value * 1000 + float(b))
        found += [Quantity(value, left.first, right.last, True, left.rounded) for value in joined]
    return found


def implied_quantities(words: Sequence[Word], known: Sequence[Quantity]) -> list[Quantity]:
    """The same figures as others write them: "four in ten" as 40 percent, "2014-15" as 2015, "14:15" as 2:15.

    Only for a reference, as in `spaced_quantities`.
    """
    found = [replace(quantity, value=value) for quantity in known for value in _other_values(words[quantity.first])]
    for left, right in itertools.pairwise(known):
        between = [word.stem for word in words[left.last + 1 : right.first]]
        if between in (["in"], ["out", "of"]) and 0 < left.value < right.value:
            found.append(replace(left, value=100 * left.value / right.value, last=right.last))
        first, last = words[left.last], words[right.first]
        if not between and is_year(first) and last.surface.isdigit() and last.start - first.end == 1:
            found.append(replace(right, value=left.value - left.value % 10 ** len(last.surface) + right.value))
    return found


def _other_values(word: Word) -> Iterator[float]:
    surface = word.surface.lower()
    if ":" in surface and surface[0].isdigit():
        yield from (_digits(surface) + shift for shift in (-12, 12))
    elif surface.endswith("m") and surface[0].isdigit():
        yield _digits(surface.removesuffix("m"))


def is_stated(quantity: Quantity, known: Iterable[Quantity]) -> bool:
    """Whether the reference states this number, or the one this rounds."""
    for other in known:
        if math.isclose(quantity.value, other.value, rel_tol=1e-6):
            return True
        rounded = quantity.rounded or other.rounded
        if rounded and abs(quantity.value - other.value) <= ROUNDING * abs(other.value):
            return True
    return False
