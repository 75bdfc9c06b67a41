"""A real CoreNLP server, and what stands in for one that misbehaves."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from aiohttp import web

from checkers.equivalence.trees import Tree, nodes
from tests.support.corenlp import shared_corenlp

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serves = Callable[[Handler], AbstractAsyncContextManager[str]]


@pytest.fixture(scope="session")
def corenlp() -> str:
    """The address of a CoreNLP server."""
    return shared_corenlp()


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


def phrases(tree: Tree, label: str | None = None) -> set[str]:
    """What the sentence says under the nodes of two words and more, of one category if given."""
    return {
        tree.text(node.start, node.end)
        for node in nodes(tree.root)
        if node.end > node.start + 1 and label in (None, node.label)
    }
