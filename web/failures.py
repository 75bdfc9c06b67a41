"""What the rejects of a series have in common, next to all series that have rejects."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from store.failures import read_failures
from store.reading import Reader, Series
from web.filters import Filters
from web.rates import Span

_LOOKED_BACK = 1440
"""Minutes, unless the page is asked for others."""
_SERIES = 50


class FailurePage:
    """The page on one series: the one that the address names, else the one with most rejects."""

    def __init__(self, reader: Reader, answer: Callable[..., web.Response]) -> None:
        self._reader, self._answer = reader, answer

    async def failures(self, request: web.Request) -> web.Response:
        now, filters = datetime.now(UTC), Filters.of({"minutes": str(_LOOKED_BACK), **request.query})
        begin, end = filters.period(now)
        begin, end = begin or now - timedelta(minutes=_LOOKED_BACK), end or now
        span = Span.of(begin, end, counted=now)

        def read() -> dict[str, Any]:
            totals = self._reader.totals(span.begin, until=span.end, minutes=span.minutes)
            # Next to a series that is chosen the others are there to choose from.
            given = {} if filters.series else filters.given
            named = {name: given[name] for name in Series._fields if name in given}
            rejects = {
                one: of["reject"]
                for one, of in totals.items()
                if of.get("reject") and named.items() <= one._asdict().items()
            }
            most = sorted(rejects, key=lambda one: (-rejects[one], one))[:_SERIES]
            shown = filters.series or next(iter(most), None)
            report = None if shown is None else read_failures(self._reader, shown, begin, end)
            return {"report": report, "listed": [(one, totals[one]) for one in most]}

        minutes = None if filters.since else int(filters.minutes)
        shown = await asyncio.to_thread(read)
        return self._answer("failures.html", **shown, filters=filters, minutes=minutes, begin=begin, end=end)
