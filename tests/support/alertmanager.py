"""An Alertmanager's door on loopback: notes what is posted, and answers as told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from aiohttp import web

from tests.support.waiting import until


class StandIn:
    """Every post is noted; `status` is the answer, None keeps it waiting."""

    def __init__(self) -> None:
        self.status: int | None = 200
        self.posts: list[list[dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    @property
    def alerts(self) -> list[dict[str, Any]]:
        """All that were posted, in order."""
        return [alert for post in self.posts for alert in post]

    def standing(self) -> dict[tuple[tuple[str, str], ...], datetime]:
        """The end of each set of labels, by which an Alertmanager would go."""
        return {
            tuple(sorted(alert["labels"].items())): datetime.fromisoformat(alert["endsAt"]) for alert in self.alerts
        }

    async def until(self, found: Callable[["StandIn"], bool]) -> None:
        """Return when `found` says so."""
        await until(lambda: found(self), lambda: self.posts)

    async def _answer(self, request: web.Request) -> web.Response:
        posted = await request.json()
        self.headers.append(dict(request.headers))
        if self.status is None:
            await asyncio.sleep(60)
        if self.status == 200:
            self.posts.append(posted)
        return web.Response(status=self.status or 500)


@asynccontextmanager
async def stand_in() -> AsyncIterator[StandIn]:
    """Listens for as long as the context lasts."""
    alertmanager = StandIn()
    application = web.Application()
    application.router.add_post("/api/v2/alerts", alertmanager._answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        alertmanager.url = f"http://127.0.0.1:{port}"
        yield alertmanager
    finally:
        await runner.cleanup()
