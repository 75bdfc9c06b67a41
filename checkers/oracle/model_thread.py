"""A model of this process, loaded with the first use and worked with on a thread of its own."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from checkers.oracle.protocol import OracleFailed, StillLoading

ModelT = TypeVar("ModelT")
ResultT = TypeVar("ResultT")

_PATIENCE_SECONDS = 10.0
"""How long a check waits for the model to be loaded, well within its deadline; then the record is held."""

_ASK_AGAIN_SECONDS = 0.5


class ModelThread(Generic[ModelT]):
    """Belongs to one event loop, which it never blocks. Where the model cannot be loaded, every use says why."""

    def __init__(self, name: str, load: Callable[[], ModelT]) -> None:
        """`name` is what messages call the model; `load` reads it, on the thread."""
        self._name = name
        self._load = load
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._loading: asyncio.Future[ModelT] | None = None

    async def model(self) -> ModelT:
        """The model.

        Raises:
            StillLoading: it is not there yet.
            OracleFailed: it cannot be loaded.
        """
        if self._loading is None:
            # Bars of the model's library do not belong into a service's logs, or between our own lines.
            os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
            self._loading = asyncio.ensure_future(self.run(self._load))
        await asyncio.wait({self._loading}, timeout=_PATIENCE_SECONDS)
        if not self._loading.done():
            raise StillLoading(f"{self._name} is being loaded", retry_after=_ASK_AGAIN_SECONDS)
        fault = self._loading.exception()
        if fault is not None:
            raise OracleFailed(f"{fault}"[:300], cause="judge_failed") from fault
        return self._loading.result()

    def run(self, call: Callable[[], ResultT]) -> asyncio.Future[ResultT]:
        """Work with the model, on the thread."""
        return asyncio.get_running_loop().run_in_executor(self._thread, call)

    def close(self) -> None:
        """End the thread once its work is done."""
        if self._loading is not None:
            self._loading.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)
