"""The worker's HTTP server: metrics for Prometheus, liveness and readiness for an orchestrator."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

import orjson
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, disable_created_metrics, generate_latest

from streams.errors import StreamError
from streams.settings import HttpSettings

Probe: TypeAlias = Callable[[], Awaitable[str | None]]
"""Returns the fault of a part; None if it has none."""

_PROBE_SECONDS = 2.0
"""Kubernetes waits one second by default, Prometheus ten; a probe that takes longer than two is itself a fault."""

_SHUTDOWN_SECONDS = 1.0


class HttpServer:
    """Serves `/metrics`, `/healthz` and `/readyz`."""

    def __init__(
        self,
        settings: HttpSettings,
        registry: CollectorRegistry,
        *,
        alive: Mapping[str, Probe],
        ready: Mapping[str, Probe],
    ) -> None:
        """`alive` and `ready` are probes by name; `/readyz` asks both."""
        # A third of all series, which no rule or dashboard reads: Prometheus knows a reset by the counter itself.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._settings = settings
        self._registry = registry
        self._alive = dict(alive)
        self._ready = {**alive, **ready}
        self._runner: web.AppRunner | None = None
        self.port = settings.port

    async def start(self) -> None:
        """Listen."""
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/healthz", partial(_answer, self._alive))
        app.router.add_get("/readyz", partial(_answer, self._ready))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
        await runner.setup()
        site = web.TCPSite(runner, self._settings.host, self._settings.port)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            raise StreamError(
                f"cannot listen on {self._settings.host}:{self._settings.port} ({error.strerror}); "
                "see http.host and http.port, 0 takes a free port"
            ) from error
        self._runner = runner
        self.port = int(runner.addresses[0][1])

    async def stop(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self._registry), headers={"content-type": CONTENT_TYPE_LATEST})


async def _answer(probes: Mapping[str, Probe], _: web.Request) -> web.Response:
    parts = {name: await _ask(probe) or "ok" for name, probe in probes.items()}
    ok = all(said == "ok" for said in parts.values())
    body = orjson.dumps({"ok": ok, "parts": parts})
    return web.Response(body=body, status=200 if ok else 503, content_type="application/json")


async def _ask(probe: Probe) -> str | None:
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            return await probe()
    except TimeoutError:
        return f"no answer within {_PROBE_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - a probe that fails is an answer, not a crash
        return f"the probe failed: {type(error).__name__}"
