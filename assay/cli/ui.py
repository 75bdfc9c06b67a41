"""`assay ui`: the page as a server, its reading of records, and its sending of labels."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import click
from aiohttp import web

from assay.cli.common import WrongUse, configured, stopped
from assay.config import Configuration, Misconfigured
from assay.messages import opened_store
from schemas import Label, Verdict, to_json
from store.redaction import Redaction
from streams.errors import StreamError
from streams.lookup import RecordGone, RecordLookup
from streams.messages import Publisher, TooLarge, label_message
from web.app import create_app
from web.review import NotSent
from web.settings import is_loopback


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address; other machines' need ui.token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8090, show_default=True, help="0 takes a free one.")
@configured
def ui(*, loaded: Configuration, host: str, port: int) -> None:
    """Serve the page until Ctrl-C: success rates, verdicts with their evidence, alerts.

    It reads the store that the archivist of `assay worker` fills (store.url).
    """
    if loaded.ui.token is None and not is_loopback(host):
        raise WrongUse(f"other machines can reach {host}: set ui.token")

    async def serve() -> None:
        ended = asyncio.create_task(stopped())
        async with served_page(loaded, host=host, port=port) as address:
            click.echo(f"The page is at {address} until Ctrl-C.")
            await ended

    asyncio.run(serve())


_LOOKUP_SECONDS, _SEND_SECONDS, _TRY_AGAIN_SECONDS, _STOP_SECONDS = 3.0, 10.0, 5.0, 1.0
"""A broker answers within milliseconds, and acknowledges within seconds after a change of leaders."""


@contextlib.asynccontextmanager
async def served_page(loaded: Configuration, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve it and yield its address; raises StreamError if the store does not answer, or the address is taken."""
    if loaded.store.url is None:
        raise Misconfigured("store.url is not set: the page shows what the archivist of `assay worker` keeps there")
    token = None if loaded.ui.token is None else loaded.ui.token.get_secret_value()
    async with contextlib.AsyncExitStack() as stack:
        reader = stack.enter_context(opened_store(loaded.store.url))
        # Closed after the server, whose last answers may need it.
        kafka = _Kafka(loaded, await stack.enter_async_context(contextlib.AsyncExitStack()))
        app = create_app(reader, host=host, token=token, find_record=kafka.record, labels=kafka)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_SECONDS)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            at = f"{host}:{port} ({error.strerror})"
            raise StreamError(f"cannot listen on {at}; see --host and --port, 0 takes a free port") from error
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{runner.addresses[0][1]}/"


class _Kafka:
    """Records from their topic, redacted as in the store, and labels to theirs; connects before the first of each."""

    def __init__(self, loaded: Configuration, stack: contextlib.AsyncExitStack) -> None:
        self._settings, self._redaction, self._stack = loaded.streams, Redaction(loaded.store.redact), stack
        self._lookup: RecordLookup | None = None
        self._publisher: Publisher | None = None
        self._away: str | None = None
        self._tried_at = float("-inf")
        self._finding, self._connecting = asyncio.Lock(), asyncio.Lock()

    async def record(self, verdict: Verdict) -> bytes | None:
        """The record of a verdict; None if it is gone, or no broker answers."""
        if verdict.origin is None:
            return None
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS), self._finding:
                if self._lookup is None:
                    self._lookup = await self._stack.enter_async_context(RecordLookup(self._settings).running())
                data, record = await self._lookup.record(verdict.origin, verdict.source, verdict.record_id)
        except (RecordGone, StreamError, TimeoutError):
            return None
        return to_json(self._redaction.of(record)) if self._redaction else data

    async def away(self) -> str | None:
        async with self._connecting:
            if self._publisher is None and time.monotonic() - self._tried_at > _TRY_AGAIN_SECONDS:
                await self._connect()
                self._tried_at = time.monotonic()
        return self._away

    async def send(self, label: Label) -> None:
        if (away := await self.away()) is not None or self._publisher is None:
            raise NotSent(f"the label was not sent: {away}")
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                await self._publisher.publish(label_message(label, self._settings.topics))
        except TimeoutError:
            topic = self._settings.topics.labels
            raise NotSent(f"no broker acknowledged the label on {topic} within {_SEND_SECONDS:.0f} s") from None
        except (StreamError, TooLarge) as error:
            raise NotSent(f"the broker did not accept the label: {error}") from None

    async def _connect(self) -> None:
        publisher = Publisher(self._settings)

        async def stop() -> None:
            # Labels without an acknowledgement were not confirmed to anybody.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(publisher.stop(), _STOP_SECONDS)

        try:
            await asyncio.wait_for(publisher.start(), _LOOKUP_SECONDS)
        except (StreamError, TimeoutError) as error:
            self._away = str(error) or f"no Kafka broker answered at {self._settings.kafka.bootstrap_servers}"
            await publisher.stop()
        else:
            self._publisher, self._away = publisher, None
            self._stack.push_async_callback(stop)
