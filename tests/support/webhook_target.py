"""The target of a webhook: a real HTTP server that answers as it is told, and notes what it was sent."""

import asyncio
import base64
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook

from tests.support.ports import serving
from tests.support.waiting import until

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@dataclass
class Request:
    """One request, whose signature was found right."""

    id: str
    at: float
    """Monotonic seconds."""
    body: dict[str, Any]


Answer = Callable[[Request], Awaitable[web.StreamResponse]]


async def take(_: Request) -> web.StreamResponse:
    return web.Response(status=204)


def always(status: int, **headers: str) -> Answer:
    async def answer(_: Request) -> web.StreamResponse:
        return web.Response(status=status, headers=headers, text="confidential answer")

    return answer


def first(*answers: Answer, then: Answer = take) -> Answer:
    """These for each message's first requests, one after the other, `then` for those that follow."""
    seen: Counter[str] = Counter()

    async def answer(request: Request) -> web.StreamResponse:
        number = seen[request.id]
        seen[request.id] += 1
        return await (answers[number] if number < len(answers) else then)(request)

    return answer


def hangs(seconds: float) -> Answer:
    async def answer(_: Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return web.Response(status=204)

    return answer


@dataclass
class WebhookTarget:
    """Holds every request against the `standardwebhooks` package before it answers."""

    port: int = 0
    answer: Answer = take
    secret: str = SECRET
    requests: list[Request] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def ids(self) -> set[str]:
        return {request.id for request in self.requests}

    def attempts(self, identifier: str) -> int:
        return sum(request.id == identifier for request in self.requests)

    async def wait_for(self, messages: int) -> None:
        """Return when so many different messages have come."""
        await until(lambda: len(self.ids) >= messages, lambda: f"{len(self.ids)} of {messages} messages came")

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listens, on the same port each time."""
        async with serving("/hook", self._handle, self.port) as self.port:
            yield

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        Webhook(self.secret).verify(body, dict(request.headers))
        noted = Request(request.headers["webhook-id"], time.monotonic(), json.loads(body))
        self.requests.append(noted)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self.answer(noted)
        finally:
            self.under_way -= 1
