"""Verdicts as they come, as server-sent events that go on where a connection broke."""

import asyncio
import contextlib

import orjson
from aiohttp import hdrs, web

from store.reading import MOST, Listed, Reader, Wanted
from web.texts import plain, shortened
from web.wording import OUTCOMES, REASON, clock

_EVERY_SECONDS = 1.0
_QUIET_SECONDS = 15.0
_ROWS = 10
"""Most of them a second: more than that nobody reads."""


async def send_live(request: web.Request, reader: Reader, wanted: Wanted, seq: int) -> web.StreamResponse:
    """Send verdicts behind `seq`, until the browser leaves or the server stops."""
    response = web.StreamResponse(headers={hdrs.CONTENT_TYPE: "text/event-stream"})
    await response.prepare(request)
    quiet = _QUIET_SECONDS
    with contextlib.suppress(ConnectionError):
        while True:
            # Before the rows: what comes in between is found the next time.
            newest = await asyncio.to_thread(reader.newest)
            found = await asyncio.to_thread(reader.after, seq, wanted) if newest > seq else []
            for one in found[:_ROWS]:
                await _send(response, "verdict", one.seq, row(one))
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


def row(one: Listed) -> dict[str, str]:
    """Return what a row of the list shows, as text."""
    sign, word = OUTCOMES[one.outcome]
    return {
        "id": one.id,
        "outcome": one.outcome,
        "sign": sign,
        "word": word,
        "at": one.checked_at.isoformat(),
        "clock": clock(one.checked_at),
        "record": plain(one.record_id),
        "source": plain(one.source),
        "model": plain(one.model),
        "checker": plain(one.checker),
        "score": "" if one.score is None else f"{one.score:.2f}",
        "reason": plain(shortened(one.reason, REASON)),
        "fault": one.fault or "",
        "of": one.checker,
    }


async def _send(response: web.StreamResponse, event: str, seq: int, data: object) -> None:
    await response.write(b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, event.encode(), orjson.dumps(data)))
