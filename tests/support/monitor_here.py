"""A trust monitor inside the test's own event loop."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from agents.trust.monitor import trust_monitor
from agents.trust.settings import AlertmanagerSettings, TrustSettings
from streams.settings import StreamSettings
from tests.support.worker_here import WorkerHere


@contextlib.asynccontextmanager
async def monitor_here(
    settings: dict[str, Any], alertmanager: AlertmanagerSettings | None = None, **trust: Any
) -> AsyncIterator[WorkerHere]:
    """Runs until the context ends, then stops in good order; `trust` over what makes tests quick."""
    agent = trust_monitor(
        TrustSettings.model_validate({"flush_seconds": 0.1} | trust), alertmanager or AlertmanagerSettings()
    )
    worker = WorkerHere([agent], StreamSettings.model_validate(settings | {"http": {"port": 0}}))
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop()
