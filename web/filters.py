"""The filters of a list: they live in the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from schemas import OUTCOMES
from store.reading import Key, Series, Wanted

_LONGEST = 256
"""Characters of a name, and of the words."""

_NAMES = ("source", "model", "checker", "outcome")

RANGES = {15: "15 minutes", 60: "1 hour", 360: "6 hours", 1440: "24 hours", 10080: "7 days", 43200: "30 days",
          129600: "90 days"}  # fmt: skip
"""Minutes that can be looked back, in words."""

LOOKED_BACK = timedelta(days=1)


class BadAddress(ValueError):
    """The address cannot be understood; the message says what is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The fields of the form, as they are in the address; empty where nothing is chosen."""

    source: str = ""
    model: str = ""
    checker: str = ""
    outcome: str = ""
    fault: str = ""
    minutes: str = ""
    """Looked back from `until` or now; `since` takes its place."""
    since: str = ""
    until: str = ""
    q: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filters":
        """Read them.

        Raises:
            BadAddress: one is too long.
        """
        given = {name: query.get(name, "").strip() for name in cls.__slots__}
        for name, value in given.items():
            if len(value) > _LONGEST:
                raise BadAddress(f"{name} has {len(value)} characters; allowed are {_LONGEST}")
        return cls(**given)

    @property
    def series(self) -> Series | None:
        """The series that they name; None unless it is one."""
        named = Series(self.source, self.model, self.checker)
        return named if all(named) else None

    @property
    def given(self) -> dict[str, str]:
        """Those that are not empty."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}

    def period(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """The time that is looked at, the end exclusive; None where it is open.

        Raises:
            BadAddress: a value is not allowed, or nothing lies between them.
        """
        begin, end = moment_of("since", self.since), moment_of("until", self.until)
        if self.minutes and begin is None:
            minutes = number(self.minutes)
            if minutes not in RANGES:
                raise BadAddress(f"minutes is {minutes}; allowed are {', '.join(map(str, RANGES))}, or since and until")
            begin = (end or now) - timedelta(minutes=minutes)
        if begin and end and begin >= end:
            raise BadAddress("since is not before until")
        return begin, end

    def stretch(self, now: datetime) -> tuple[datetime, datetime, int | None]:
        """The time that is looked at, a day unless they say otherwise, and its minutes if it has no fixed beginning."""
        begin, end = self.period(now)
        minutes = None if self.since else int(self.minutes or LOOKED_BACK / timedelta(minutes=1))
        return begin or (end or now) - LOOKED_BACK, end or now, minutes

    def wanted(self, now: datetime) -> Wanted:
        """The verdicts that they let through.

        Raises:
            BadAddress: one has a value that is not allowed.
        """
        if self.outcome and self.outcome not in OUTCOMES:
            raise BadAddress(f"outcome is {self.outcome!r}; allowed are {', '.join(OUTCOMES)}")
        names = {f"{name}s": (value,) for name in _NAMES if (value := getattr(self, name))}
        since, until = self.period(now)
        return Wanted(**names, since=since, until=until, fault=self.fault, words=self.q)

    def address(self, path: str, **more: object) -> str:
        """`path` with these filters, and others in their place or next to them; None leaves one out."""
        fields = {name: value for name, value in {**self.given, **more}.items() if value is not None}
        return f"{path}?{urlencode(fields)}" if fields else path


def key_of(text: str | None) -> Key | None:
    """The place in a list that `written` wrote.

    Raises:
        BadAddress: it did not write that.
    """
    if not text:
        return None
    return Key(*(number(part) for part in text.split(".", 1))) if "." in text else Key(number(text), 0)


def written(key: Key) -> str:
    """A place in a list, for an address."""
    return f"{key.checked_at}.{key.seq}"


def number(text: str) -> int:
    """A number of verdicts or milliseconds.

    Raises:
        BadAddress: it is none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise BadAddress("the address has something else where a number belongs")
    return int(text)


def moment_of(name: str, text: str) -> datetime | None:
    """A time, UTC unless it says otherwise; None if the text is empty.

    Raises:
        BadAddress: it is none.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadAddress(f"{name} is {text!r}; expected a time such as 2026-11-20T14:00 (UTC)") from None
