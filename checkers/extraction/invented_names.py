"""Names without traffic and without a judge: Faker's of persons, places and organisations; other dates and figures.

The same seed, entity and version of Faker give the same names in the same order.
"""

import calendar
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Literal

from checkers.draws import generator
from checkers.extraction.fitting import has_digit

if TYPE_CHECKING:
    from faker import Faker

MOST = 40
"""Names for one entity."""

Kind = Literal["person", "place", "organisation", "quantity"]

_KINDS: dict[Kind, str] = {
    "person": "per person human man woman character politician actor author artist player",
    "place": "loc location gpe place city town village country state county region province municipality capital",
    "organisation": "org organisation organization company business firm corporation institution manufacturer",
    "quantity": "date time year month day weekday period duration number figure quantity amount money price percent "
    "percentage cardinal ordinal measure measurement count age",
}
"""Words by which extractors call their classes."""

_CALENDAR = (tuple(calendar.month_name)[1:], tuple(calendar.month_abbr)[1:], tuple(calendar.day_name))

_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_FARTHEST = 40
"""Years between a date and the one in its place."""
_LAST_YEAR = 2025


def kind_of(said: str) -> Kind | None:
    """The kind of a class as an extractor calls it: PER, person, "fictional person"."""
    words = {word.rstrip("s") for word in re.findall(r"[^\W_]+", said.casefold())} | {said.casefold()}
    return next((kind for kind, known in _KINDS.items() if words.intersection(known.split())), None)


def invented(entity: str, said: str, seed: str) -> Iterator[str]:
    """Names of the entity's kind, by the class that its subject gave it; none if nobody can tell the kind."""
    kind = kind_of(said)
    draw = generator(seed, f"invented {entity}")
    if kind == "quantity" or (not said and entity[:1].isdigit()):
        return _quantities(entity, draw)
    return iter(()) if kind is None else islice(_named(kind, entity, draw), MOST)


def _named(kind: Kind, entity: str, draw: Random) -> Iterator[str]:
    faker = _faker()
    length = len(entity.split())
    # One for all entities: what it draws begins anew with each.
    faker.seed_instance(draw.getrandbits(64))
    while True:
        if kind == "place":
            yield ", ".join(faker.country() for _ in entity.split(", "))
        elif kind == "organisation":
            yield " ".join([*(faker.last_name() for _ in range(max(1, length - 1))), faker.company_suffix()])
        else:
            yield " ".join([*(faker.first_name() for _ in range(length - 1)), faker.last_name()])


@cache
def _faker() -> "Faker":
    # Slow to import, and most records need none.
    from faker import Faker

    return Faker("en_US")


def _quantities(entity: str, draw: Random) -> Iterator[str]:
    """Other dates and figures in the entity's own form: "May 3, 1871" for "May 25, 1844"."""
    if not has_digit(entity):
        for names in _CALENDAR:
            if entity in names:
                yield from draw.sample([name for name in names if name != entity], len(names) - 1)
        return
    for _ in range(MOST):
        years = _years(entity, draw)
        yield _FIGURE.sub(lambda figure: _other(figure, years, draw), entity)  # noqa: B023 - called at once


def _other(figure: re.Match[str], years: int, draw: Random) -> str:
    written = figure[0]
    if _YEAR.fullmatch(written):
        return str(int(written) + years)
    if len(written) <= 2:
        value = int(written)
        is_ordinal = figure.string[figure.end() : figure.end() + 1].isalpha()
        # Every month has a 28th.
        least, most = (1 if is_ordinal else 2, 28) if value <= 31 else (32, 59) if value <= 59 else (60, 99)
        kind = _ordinal(value) if is_ordinal else None
        others = [n for n in range(least, most + 1) if n != value and (kind is None or _ordinal(n) == kind)]
        # What counts one thing would want a plural.
        return str(draw.choice(others)) if value > 1 or is_ordinal else written
    last = max(at for at, sign in enumerate(written) if sign not in "0.," or at == 0)
    made = [draw.choice("23456789") if sign.isdigit() and at <= last else sign for at, sign in enumerate(written)]
    return "".join(made)


def _years(entity: str, draw: Random) -> int:
    """By how much all years are moved, so that a span stays as long; "the 1980s" by decades."""
    years = [int(year) for year in _YEAR.findall(entity)]
    step = 10 if re.search(r"\d0s", entity) else 1
    farthest = max(_LAST_YEAR, *years, 0) - max(years, default=0)
    return draw.choice([move for move in range(-_FARTHEST, _FARTHEST + 1, step) if move and move <= farthest])


def _ordinal(number: int) -> int:
    """1, 2 or 3 for what ends like first, second or third, else 0."""
    return number % 10 if number % 10 <= 3 and number // 10 != 1 else 0
