"""A judge in this process, whose model takes a while to load: records are held meanwhile, none runs out of time."""

import asyncio
import os

from pydantic import BaseModel

from checkers.oracle.claims import Claims
from checkers.oracle.protocol import (
    Answer,
    Message,
    Oracle,
    OracleError,
    Question,
    ReplyT,
    StillLoading,
)

LOADING = "the local model is being loaded"

_ASK_AGAIN_SECONDS = 0.25


class _AnyReply(BaseModel):
    pass


_WARM_UP = Question(
    "warm_up",
    prompt_version="1",
    messages=(Message("user", "Reply with {}."),),
    reply=_AnyReply,
    claims=Claims(reference="The model is ready.", sentences=("The model is ready.",), task="summary"),
    from_grades=lambda _: _AnyReply(),
)


class LoadingJudge:
    """Around a judge that loads its model with the first question: asks that one by itself, in the background."""

    def __init__(self, inner: Oracle) -> None:
        self._inner = inner
        self._loading: asyncio.Task[str | None] | None = None

    @property
    def name(self) -> str:
        """The judge's."""
        return self._inner.name

    def load(self) -> None:
        """Begin now, on the running event loop, and not with the first question."""
        if self._loading is None:
            # Bars of the model's library do not belong into a service's logs, or between our own lines.
            os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
            self._loading = asyncio.create_task(self._warm_up())

    @property
    def fault(self) -> str | None:
        """Why it cannot be asked, or None."""
        if self._loading is None or not self._loading.done():
            return LOADING
        return None if self._loading.cancelled() else self._loading.result()

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The judge's answer.

        Raises:
            StillLoading: it cannot answer yet.
            OracleFailed: its model cannot be loaded, or what the judge raises.
        """
        self.load()
        if self._loading is not None and not self._loading.done():
            raise StillLoading(LOADING, retry_after=_ASK_AGAIN_SECONDS)
        return await self._inner.ask(question)

    async def close(self) -> None:
        """Stop loading, and close the judge."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)
        await self._inner.close()

    async def _warm_up(self) -> str | None:
        try:
            await self._inner.ask(_WARM_UP)
        except OracleError as error:
            return error.detail
        return None
