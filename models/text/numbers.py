"""Numbers in a text as values, however they are written: "1,000", "1 thousand" and "a thousand" are one number."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from text_to_num import find_numbers

from models.text.closed_class import APPROXIMATORS
from models.text.tokens import FIGURE, FIGURE_ENDING
from models.text.words import Word

ROUNDING = 0.06
"""Share by which a number behind "about", "nearly" or "over" may differ from the reference's."""

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
_DIGITS = re.compile(rf"({FIGURE})({FIGURE_ENDING})?")
_YEAR = re.compile(r"(1\d|20)\d\ds?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SMALL = 12
"""Up to here a number in words may be the writer's own count."""
_LEAST_ORDINAL = 3
""""First" and "second" have other meanings."""


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


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A word as `find_numbers` takes it."""

    word: Word

    def text(self) -> str:
        return self.word.surface.lower()

    def nt_separated(self, previous: "_Spelled") -> bool:
        return self.word.start - previous.word.end > 1

    def not_a_number_part(self) -> bool:
        # "Thousands" is no number, "O" no zero.
        return self.text().endswith("s") or self.text() == "o"


def is_year(word: Word) -> bool:
    """True if a figure is written as years are: four digits without a sign, or a decade."""
    return _YEAR.fullmatch(word.surface) is not None


def quantities(words: Sequence[Word]) -> list[Quantity]:
    """The numbers of a text, in order; a lone "one" is taken for a pronoun and left out."""
    spelled = {found.start: found for found in find_numbers([_Spelled(word) for word in words], "en", 0.0)}
    found = []
    position = 0
    while position < len(words):
        end, value, digits = position + 1, None, False
        # Decades are written with an apostrophe or without one.
        surface = words[position].surface.lower().replace("'", "")
        if match := _DIGITS.fullmatch(surface):
            digits, value = True, _in_digits(match.group(1)) * _SCALES.get(match.group(2) or "", 1.0)
            while end < len(words) and (scale := _SCALES.get(words[end].surface.lower())):
                value, end = value * scale, end + 1
        elif number := spelled.get(position):
            alone = number.end == position + 1
            pronoun = alone and surface == "one"
            unclear = surface in _SCALES and not (position and words[position - 1].stem == "a")
            if not (pronoun or unclear or (number.is_ordinal and number.value < _LEAST_ORDINAL)):
                end, value = number.end, float(number.value)
        if value is not None:
            rounded = any(word.stem in APPROXIMATORS for word in words[max(0, position - 2) : position])
            measured = end < len(words) and words[end].stem in _MEASURES
            found.append(Quantity(value, position, end - 1, digits or measured or value > _SMALL, rounded))
        position = end
    return found


def _in_digits(text: str) -> float:
    if ":" in text:
        hours, _, minutes = text.partition(":")
        return _in_digits(hours) + (_in_digits(minutes) if minutes else 0.0) / 60
    if not _GROUPED.fullmatch(text) and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    whole, _, fraction = text.replace(",", "").partition(".")
    return float(f"{whole[:300]}.{fraction.replace('.', '')[:18] or 0}")


def implied_quantities(words: Sequence[Word], known: Sequence[Quantity]) -> list[Quantity]:
    """The same figures as others write them: "four in ten" as 40 percent, "2014-15" as 2015, "14:15" as 2:15.

    Only for a reference: there a reading too many can hide an error, but never makes one up.
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
        yield from (_in_digits(surface) + shift for shift in (-12, 12))
    elif surface.endswith("m") and surface[0].isdigit():
        yield _in_digits(surface.removesuffix("m"))


def is_stated(quantity: Quantity, known: Iterable[Quantity]) -> bool:
    """True if one of the known numbers is this one, or this one rounded."""
    for other in known:
        if math.isclose(quantity.value, other.value, rel_tol=1e-6):
            return True
        rounded = quantity.rounded or other.rounded
        if rounded and abs(quantity.value - other.value) <= ROUNDING * abs(other.value):
            return True
    return False
