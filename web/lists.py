"""Lists of verdicts: their filters, which live in the address, their downloads, and rows as they come.

Rows are server-sent events, which go on where a connection broke.
"""

import asyncio
import contextlib
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

import orjson
from aiohttp import hdrs, web

from schemas import OUTCOMES
from schemas.base import as_utc
from store.reading import MOST, Key, Listed, Reader, Series, Wanted

_LONGEST = 256  # Characters of a name, and of the words.
_NAMES = ("source", "model", "checker", "outcome")

RANGES = {15: "15 minutes", 60: "1 hour", 360: "6 hours", 1440: "24 hours", 10080: "7 days", 43200: "30 days",
          129600: "90 days"}  # fmt: skip
"""Minutes that can be looked back, in words."""

LOOKED_BACK = timedelta(days=1)

_COLUMNS = ("id", "record_id", "source", "model", "checker", "outcome", "judge", "score", "reason", "checked_at")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # By which spreadsheets take a text for a formula.

_EVERY_SECONDS, _QUIET_SECONDS = 1.0, 15.0
_ROWS = 10  # Most of them a second: more than that nobody reads.


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
        """Read them; raises BadAddress if one is too long."""
        given = {name: query.get(name, "").strip() for name in cls.__slots__}
        if long := next((name for name, value in given.items() if len(value) > _LONGEST), None):
            raise BadAddress(f"{long} has {len(given[long])} characters; allowed are {_LONGEST}")
        return cls(**given)

    @property
    def series(self) -> Series | None:
        """The series that they name; None unless it is one."""
        named = Series(self.source, self.model, self.checker)
        return named if all(named) else None

    @property
    def given(self) -> dict[str, str]:
        """Those that are not empty."""
        return {name: value for name, value in asdict(self).items() if value}

    def period(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """The time that is looked at, the end exclusive, None where it is open; raises BadAddress for a wrong one."""
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
        """The verdicts that they let through; raises BadAddress if one has a value that is not allowed."""
        if self.outcome and self.outcome not in OUTCOMES:
            raise BadAddress(f"outcome is {self.outcome!r}; allowed are {', '.join(OUTCOMES)}")
        names = {f"{name}s": (value,) for name in _NAMES if (value := getattr(self, name))}
        since, until = self.period(now)
        return Wanted(**names, since=since, until=until, fault=self.fault, words=self.q)

    def address(self, path: str, **more: object) -> str:
        """`path` with these filters, and others in their place or next to them; None leaves one out."""
        return address(path, **{**self.given, **more})


def address(path: str, **fields: object) -> str:
    """`path` with those of the fields that are not empty."""
    given = {name: value for name, value in fields.items() if value not in {None, ""}}
    return f"{path}?{urlencode(given)}" if given else path


def key_of(text: str | None) -> Key | None:
    """The place in a list that `written` wrote; raises BadAddress if it did not write that."""
    if not text:
        return None
    checked_at, _, seq = text.partition(".")
    return number(checked_at), number(seq or "0")


def written(key: Key) -> str:
    """A place in a list, for an address."""
    return "{}.{}".format(*key)


def number(text: str) -> int:
    """A number of verdicts or milliseconds; raises BadAddress if it is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise BadAddress("the address has something else where a number belongs")
    return int(text)


def moment_of(name: str, text: str) -> datetime | None:
    """A time, UTC unless it says otherwise; None if the text is empty. Raises BadAddress if it is none."""
    try:
        return as_utc(datetime.fromisoformat(text)) if text else None
    except ValueError:
        raise BadAddress(f"{name} is {text!r}; expected a time such as 2026-11-20T14:00 (UTC)") from None


def as_json(rows: Sequence[Listed], earlier: str | None) -> web.Response:
    """`{"verdicts": [...], "earlier": address or null}`."""
    document = {"verdicts": [{name: getattr(one, name) for name in _COLUMNS} for one in rows], "earlier": earlier}
    return web.Response(body=orjson.dumps(document, option=orjson.OPT_UTC_Z), content_type="application/json")


def as_csv(rows: Sequence[Listed], earlier: str | None) -> web.Response:
    """A line a verdict; the address of the earlier ones stands in the header `Link`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    writer.writerows([_cell(getattr(one, name)) for name in _COLUMNS] for one in rows)
    headers: dict[str, str] = {hdrs.CONTENT_DISPOSITION: 'attachment; filename="verdicts.csv"'}
    headers |= {"Link": f'<{earlier}>; rel="next"'} if earlier else {}
    return web.Response(text=text.getvalue(), content_type="text/csv", charset="utf-8", headers=headers)


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value.isoformat() if isinstance(value, datetime) else value


async def send_live(
    request: web.Request, reader: Reader, wanted: Wanted, seq: int, shown: Callable[[Listed], str]
) -> web.StreamResponse:
    """Send the rows of verdicts behind `seq`, which `shown` makes, until the browser leaves or the server stops."""
    response = web.StreamResponse(headers={hdrs.CONTENT_TYPE: "text/event-stream"})
    await response.prepare(request)
    quiet = _QUIET_SECONDS
    with contextlib.suppress(ConnectionError):
        while True:
            # Before the rows: what comes in between is found the next time.
            newest = await asyncio.to_thread(reader.newest)
            found = await asyncio.to_thread(reader.after, seq, wanted) if newest > seq else []
            for one in found[:_ROWS]:
                await _send(response, "verdict", one.seq, shown(one))
            if found[_ROWS:]:
                await _send(response, "more", found[-1].seq, len(found) - _ROWS)
            seq = max([seq, *(one.seq for one in found), *([newest] if len(found) < MOST else [])])
            quiet = 0.0 if found else quiet + _EVERY_SECONDS
            if quiet >= _QUIET_SECONDS:
                quiet = 0.0
                # An id without data is remembered by the browser, and shown to nobody.
                await response.write(f": nothing new\nid: {seq}\n\n".encode())
            await asyncio.sleep(_EVERY_SECONDS)
    return response


async def _send(response: web.StreamResponse, event: str, seq: int, data: object) -> None:
    await response.write(b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, event.encode(), orjson.dumps(data)))
