"""The page as a server, and the records that it reads back from their topic."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from aiohttp import web

from assay.config import Misconfigured
from assay.kept import kept
from assay.recorded_exchanges import RecordedExchanges
from schemas import Verdict, to_json
from store.redaction import Redaction
from store.settings import StoreSettings
from streams.errors import StreamError
from streams.lookup import RecordGone, RecordLookup
from streams.settings import StreamSettings
from web.app import create_app
from web.settings import PageSettings

_LOOKUP_SECONDS = 3.0
"""A broker answers within milliseconds; a page is of use without the record as well."""

_STOP_SECONDS = 1.0
"""Answers take milliseconds. What is still open are streams of new verdicts."""


@contextlib.asynccontextmanager
async def served_page(
    store: StoreSettings, page: PageSettings, streams: StreamSettings, *, recordings: Collection[Path] = ()
) -> AsyncIterator[str]:
    """Serve it for as long as the context lasts; yields its address. `recordings`: files of models' exchanges.

    Raises:
        Misconfigured: there is no store, or no token where one is demanded.
        StreamError: the store does not answer, or the address is taken.
    """
    if store.url is None:
        raise Misconfigured("store.url is not set: the page shows what the archivist of `assay worker` keeps there")
    try:
        token = page.read_token()
    except ValueError as error:
        raise Misconfigured(f"ui.token_file: {error}") from None
    with kept(store.url) as reader:
        redaction = Redaction(store.redact)
        finder, exchanges = _RecordFinder(streams, redaction), RecordedExchanges(recordings, redaction)
        app = create_app(reader, host=page.host, token=token, find_record=finder.record, find_exchanges=exchanges.of)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_SECONDS)
        await runner.setup()
        try:
            await _listen(web.TCPSite(runner, page.host, page.port), page)
            host = f"[{page.host}]" if ":" in page.host else page.host
            yield f"http://{host}:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()
            await finder.stop()


async def _listen(site: web.TCPSite, page: PageSettings) -> None:
    try:
        await site.start()
    except OSError as error:
        at = f"{page.host}:{page.port} ({error.strerror})"
        raise StreamError(f"cannot listen on {at}; see ui.host and ui.port, 0 takes a free port") from error


class _RecordFinder:
    """Reads records back from their topic, blotted out as the store's are."""

    def __init__(self, settings: StreamSettings, redaction: Redaction) -> None:
        self._settings = settings
        self._redaction = redaction
        self._lookup: RecordLookup | None = None
        self._turn = asyncio.Lock()

    async def record(self, verdict: Verdict) -> bytes | None:
        """The record of a verdict; None if it is gone, or no broker answers."""
        if verdict.origin is None:
            return None
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS), self._turn:
                self._lookup = self._lookup or await self._started()
                found = await self._lookup.record(verdict.origin, verdict.source, verdict.record_id)
        except (RecordGone, StreamError, TimeoutError):
            return None
        return to_json(self._redaction.of(found.record)) if self._redaction else found.data

    async def stop(self) -> None:
        if self._lookup is not None:
            await self._lookup.stop()

    async def _started(self) -> RecordLookup:
        lookup = RecordLookup(self._settings)
        try:
            await lookup.start()
        except BaseException:
            await lookup.stop()
            raise
        return lookup
