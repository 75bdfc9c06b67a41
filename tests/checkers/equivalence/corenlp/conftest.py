"""Stands in for a CoreNLP server that misbehaves."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serves = Callable[[Handler], AbstractAsyncContextManager[str]]


@pytest.fixture
def serves() -> Serves:
    """Serves all requests with one handler; gives the address."""

    @asynccontextmanager
    async def server(handler: Handler) -> AsyncIterator[str]:
        application = web.Application()
        application.router.add_post("/", handler)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    return server
