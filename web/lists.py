"""Lists of verdicts next to the page's: JSON and CSV for scripts and spreadsheets, and rows as they come.

Rows are server-sent events, which go on where a connection broke.
"""

import asyncio
import contextlib
import csv
import io
from collections.abc import Callable, Sequence

import orjson
from aiohttp import hdrs, web

from store.reading import MOST, Listed, Reader, Wanted

_COLUMNS = ("id", "record_id", "source", "model", "checker", "outcome", "judge", "score", "reason", "checked_at")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings by which spreadsheets take a text for a formula."""

_EVERY_SECONDS = 1.0
_QUIET_SECONDS = 15.0
_ROWS = 10
"""Most of them a second: more than that nobody reads."""


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
    if earlier:
        headers["Link"] = f'<{earlier}>; rel="next"'
    return web.Response(text=text.getvalue(), content_type="text/csv", charset="utf-8", headers=headers)


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat else value


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
