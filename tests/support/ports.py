"""Ports of loopback for servers of a test's own."""

import random
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager

from aiohttp import web

_BELOW_EPHEMERAL = range(10_240, 30_000)
"""No system hands these out by itself (Linux begins at 32768, others at 49152) to those who ask for any port."""

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For `verify` of httpx, which else reads all certificates there are for each request, in 40 ms."""


def free_port() -> int:
    """A port that nothing listens on, and that nobody else is given by chance before or while its server is down."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """So many of them, no two the same."""
    # Not the tests' seed, which all workers of a run share.
    drawn = random.SystemRandom()
    found: list[int] = []
    with ExitStack() as stack:
        while len(found) < count:
            probe = stack.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", drawn.choice(_BELOW_EPHEMERAL)))
            except OSError:
                continue
            found.append(int(probe.getsockname()[1]))
    return found


@asynccontextmanager
async def serving(
    path: str, handle: Callable[[web.Request], Awaitable[web.StreamResponse]], port: int = 0
) -> AsyncIterator[int]:
    """A server of POSTs to a path, on loopback; its port."""
    app = web.Application()
    app.router.add_post(path, handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
