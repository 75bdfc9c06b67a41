"""Connections of an HTTP server that anybody may reach: so many at once, and none that only stays open."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from aiohttp import web

_AT_ONCE: Final = 1024
"""A thousand SDKs keep one open each."""

_SILENT_SECONDS: Final = 60.0
_SWEEPS: Final = 4
"""Looks at all connections within that time."""


class Connections:
    """Closes connections beyond the limit, and those without a request."""

    def __init__(self) -> None:
        self._listening: asyncio.Server | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._busy: set[object] = set()
        self._silent: dict[web.RequestHandler, float] = {}
        """Since when they are."""

    async def listen(self, server: web.Server, host: str, port: int) -> None:
        """Raise `OSError` if the address is taken or not allowed."""

        def connection() -> asyncio.BaseProtocol:
            return server() if len(server.connections) < _AT_ONCE else _Closed()

        self._listening = await asyncio.get_running_loop().create_server(connection, host, port)
        self._sweeping = asyncio.create_task(self._sweep(server))

    async def close(self) -> None:
        """Take no new ones."""
        if self._listening is not None:
            self._listening.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping

    @contextmanager
    def serving(self, request: web.Request) -> Iterator[None]:
        """While its request is served, a connection is not silent."""
        connection = request.protocol
        self._busy.add(connection)
        try:
            yield
        finally:
            self._busy.discard(connection)
            self._silent.pop(connection, None)

    async def _sweep(self, server: web.Server) -> None:
        while True:
            await asyncio.sleep(_SILENT_SECONDS / _SWEEPS)
            now = time.monotonic()
            silent = {each: self._silent.get(each, now) for each in server.connections if each not in self._busy}
            for connection, since in silent.items():
                if now - since >= _SILENT_SECONDS:
                    connection.force_close()
            self._silent = silent


class _Closed(asyncio.BaseProtocol):
    """A connection too many."""

    def connection_made(self, transport: Any) -> None:
        transport.abort()
