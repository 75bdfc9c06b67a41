"""Dates, days and times of day, however they are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WEEKDAYS = ("monday", "tuesday tues", "wednesday", "thursday thurs", "friday", "saturday", "sunday")
_MONTHS = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)

WEEKDAYS = {name: day for day, names in enumerate(_WEEKDAYS) for name in names.split()}
"""Names and short forms of the days of the week, in lower case, from 0 for Monday."""

MONTHS = {name: month for month, names in enumerate(_MONTHS, start=1) for name in names.split()}
"""Names and short forms of the months, in lower case, from 1 for January."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, a day of the week or a time of day; what is not said is None."""

    text: str
    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekdays: frozenset[int] = frozenset()
    """All days of a range."""
    minutes: frozenset[int] = frozenset()
    """Since midnight; two where morning or afternoon is left open."""


_MONTH = rf"(?P<{{}}>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_DAY_OF_WEEK = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_HOUR = r"(?P<{0}h>\d{{1,2}})(?:[:.](?P<{0}m>\d\d))?"
_FORMS = re.compile(
    r"(?<![\w/.-])(?:"
    r"(?P<y1>[12]\d{3})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})(?:T[\d:]+Z?)?"
    r"|(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>[12]\d{3})"
    r"|(?P<a3>\d{1,2})/(?P<b3>\d{1,2})/(?P<y3>[12]\d{3})"
    rf"|(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('n4')}(?:,? (?P<y4>[12]\d{{3}}))?"
    rf"|{_MONTH.format('n5')} (?P<d5>\d{{1,2}})(?:st|nd|rd|th)?(?![:.\d])(?:,? (?P<y5>[12]\d{{3}}))?"
    rf"|{_MONTH.format('n6')}(?: of)?,? (?P<y6>[12]\d{{3}})"
    rf"|{_MONTH.format('n7')}"
    rf"|(?P<w8>{_DAY_OF_WEEK})s?\b(?:(?: to | through | until | till | ?[-–] ?)(?P<v8>{_DAY_OF_WEEK})s?\b)?"
    r"|(?P<half>half past|quarter past|quarter to) (?P<hw>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve)\b"
    r"|(?P<word>noon|midday|midnight)\b"
    rf"|{_HOUR.format('e')} ?(?P<half_day>[ap])\.?m\b\.?"
    r"|(?P<ch>\d{1,2}):(?P<cm>\d\d)(?::\d\d)?(?![:\d])"
    r"|(?P<oh>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) o'clock"
    r")(?![\w/])",
    re.IGNORECASE,
)
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
_SPELLED = {name: hour for hour, name in enumerate(_HOURS, 1)}
_SHIFTS = {"half past": 30, "quarter past": 15, "quarter to": -15}
_NAMED = {"noon": 720, "midday": 720, "midnight": 0}


def moments(text: str) -> Iterator[Moment]:
    """The moments of a normalised text, in order; names only with a capital, but for a month with a day of it."""
    for found in _FORMS.finditer(text):
        if (moment := _moment(found)) is not None:
            yield moment


def plainly(text: str) -> str:
    """The text with dates in figures and times of day as most people write them: 3 March 2019, 2:30 pm, 9:30."""
    return _FORMS.sub(_plain, text)


def _plain(found: re.Match[str]) -> str:
    said, moment = found.groupdict(), _moment(found)
    if moment is None:
        return found.group()
    if (said["y1"] or said["y2"] or said["y3"]) and moment.month in _NAMES:
        return f"{moment.day} {_NAMES[moment.month]} {moment.year}"
    if said["half"] or (said["ch"] and int(said["ch"]) > 12):
        hour, minute = divmod(min(moment.minutes), 60)
        shown = f"{(hour - 1) % 12 + 1}" + (f":{minute:02}" if minute else "")
        return shown if said["half"] else f"{shown} pm"
    return found.group()


_NAMES: dict[int | None, str] = {month: name.split()[0].capitalize() for month, name in enumerate(_MONTHS, start=1)}


def _moment(found: re.Match[str]) -> Moment | None:
    said, span = found.groupdict(), (found.group(), *found.span())
    year = next((int(said[f"y{k}"]) for k in (1, 2, 3, 4, 5, 6) if said[f"y{k}"]), None)
    name = next((said[f"n{k}"] for k in (4, 5, 6, 7) if said[f"n{k}"]), None)
    day = next((int(said[f"d{k}"]) for k in (1, 2, 4, 5) if said[f"d{k}"]), None)
    if name:
        opens = found.start() == 0 or found.string[: found.start()].rstrip()[-1:] in ".!?"
        if name.lower() in {"may", "march", "mar"}:
            is_name = name[0].isupper() and not (said["n7"] and opens)
        else:
            is_name = name[0].isupper() or day is not None
        return Moment(*span, year, MONTHS[name.lower()], day) if is_name else None
    if year:
        month, day = _month_and_day(said)
        return Moment(*span, year, month, day)
    if said["w8"]:
        first, last = WEEKDAYS[said["w8"].lower()], WEEKDAYS[(said["v8"] or said["w8"]).lower()]
        days = frozenset((first + k) % 7 for k in range((last - first) % 7 + 1))
        return Moment(*span, weekdays=days) if said["w8"][0].isupper() else None
    return Moment(*span, minutes=frozenset(_minutes(said)))


def _month_and_day(said: dict[str, str | None]) -> tuple[int | None, int | None]:
    """The readings of a date in figures; with slashes either way round, and left open where both may be months."""
    if not said["a3"]:
        return int(said["m1"] or said["m2"] or 0), int(said["d1"] or said["d2"] or 0)
    one, other = int(said["a3"]), int(said["b3"] or 0)
    return (other, one) if one > 12 else (one, other) if other > 12 else (None, None)


def _minutes(said: dict[str, str | None]) -> Iterator[int]:
    if said["word"]:
        yield _NAMED[said["word"].lower()]
    elif said["half_day"]:
        hour = int(said["eh"] or 0) % 12 + 12 * (said["half_day"].lower() == "p")
        yield hour * 60 + int(said["em"] or 0)
    else:
        hour_said = said["hw"] or said["ch"] or said["oh"] or "0"
        hour = _SPELLED.get(hour_said.lower()) or int(hour_said)
        minutes = hour * 60 + int(said["cm"] or 0) + (_SHIFTS[said["half"].lower()] if said["half"] else 0)
        yield minutes
        if hour <= 12:
            yield (minutes + 720) % 1440


def agrees(one: Moment, other: Moment) -> bool:
    """True if what one moment says is borne out by the other, which may say more, or be a range around it."""
    if one.minutes or other.minutes:
        return bool(one.minutes & other.minutes)
    if one.weekdays or other.weekdays:
        return bool(one.weekdays) and one.weekdays <= other.weekdays
    pairs = ((one.year, other.year), (one.month, other.month), (one.day, other.day))
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)
