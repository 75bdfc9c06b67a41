"""Small real checkers: one that accepts, one that sleeps, one that raises, one whose judge comes and goes."""

import asyncio
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agents.sessions
from assay.testing import ScriptedJudge
from checkers.checker import Checker, CheckerSettings, Decision, Models
from checkers.plugin import Improver, own_checkers
from models.judges.prompted import PromptedJudge
from models.protocol import Judge, ModelUnavailable
from models.work import book
from schemas import Envelope, Generation, Usage


class Accept(Checker[CheckerSettings]):
    """Accepts whatever it is given, after doing what `_work` does."""

    name = "accept"

    def __init__(self, name: str = "accept", limit: float = 60.0) -> None:
        super().__init__(CheckerSettings(), Models(judge=ScriptedJudge(name="none"), record_seconds=limit))
        self.name = name  # type: ignore[misc] - one class, many names
        self.kinds = frozenset({"generation"})

    async def decide(self, record: Envelope) -> Decision:
        await self._work(record)
        book(Usage(calls=1))
        return Decision(accepted=True, reason="It was asked to.")

    async def _work(self, record: Envelope) -> None:
        pass


class RejectsNo(Accept):
    """Rejects the response `no`."""

    def __init__(self) -> None:
        super().__init__("rejects-no")

    async def decide(self, record: Envelope) -> Decision:
        return Decision(accepted=getattr(record, "response", "") != "no", reason="It says no.")


class Sleep(Accept):
    """Takes `seconds`, on average, for a record."""

    def __init__(self, seconds: float, spread: float = 0.5, limit: float = 60.0) -> None:
        super().__init__("sleep", limit)
        self.seconds = seconds
        self._spread = spread

    async def _work(self, record: Envelope) -> None:
        await asyncio.sleep(self.seconds * random.uniform(1 - self._spread, 1 + self._spread))


class Computes(Accept):
    """Takes `seconds` of processor time for a record."""

    def __init__(self, seconds: float) -> None:
        super().__init__("computing")
        self._seconds = seconds

    async def _work(self, record: Envelope) -> None:
        end = time.thread_time() + self._seconds
        while time.thread_time() < end:
            pass


class Waits(Accept):
    """Waits, for a record whose response is the path of a file, until that is gone."""

    def __init__(self) -> None:
        super().__init__("waiting")

    async def _work(self, record: Envelope) -> None:
        response = getattr(record, "response", "")
        while response.startswith("/") and await asyncio.to_thread(os.path.exists, response):  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.02)


class Recalls(Sleep):
    """Says in its reason which turns a record came behind."""

    turns = 3

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.name = "recalls"  # type: ignore[misc]

    async def decide(self, record: Envelope) -> Decision:
        await self._work(record)
        earlier = record.earlier if isinstance(record, Generation) else ()
        return Decision(accepted=True, reason=" ".join(turn.record_id for turn in earlier) or "none")


class Concludes(Accept):
    """Takes whole conversations, and says in its reason what it was given."""

    unit = "conversation"  # type: ignore[misc]
    turns = 20

    def __init__(self, *, away: str | None = None, silent_seconds: float | None = None) -> None:
        """Its judge is down as long as the file `away` exists; sessions end after `silent_seconds` in this process."""
        super().__init__("concludes")
        self._away = away
        if silent_seconds is not None:
            agents.sessions.SILENT_SECONDS = silent_seconds

    async def decide(self, record: Envelope) -> Decision:
        if self._away is not None and await asyncio.to_thread(os.path.exists, self._away):
            raise ModelUnavailable("connection refused", retry_after=0.05)
        return Decision(accepted=True, reason=getattr(record, "response", ""))


class OnBad(Accept):
    """Does what its name says for records whose id begins with `bad`, which its judge may fail on again and again."""

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        super().__init__(name)
        self._seconds = seconds

    async def _work(self, record: Envelope) -> None:
        await asyncio.sleep(self._seconds)
        if not record.id.startswith("bad"):
            return
        if self.name == "raises":
            raise ValueError(f"cannot take {record.id}")
        if self.name == "fails":
            raise ModelUnavailable("connection reset", retry_after=0.05, suspect=True)
        # It waits for something that somebody else cancelled.
        other: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        other.cancel()
        await other


class WhileFileIsThere(Accept):
    """Its judge is down as long as a file exists."""

    def __init__(self, file: Path, retry_after: float = 0.2) -> None:
        super().__init__("flaky")
        self._file = file
        self._retry_after = retry_after
        self.asked = 0
        """Questions to the judge."""

    async def _work(self, record: Envelope) -> None:
        self.asked += 1
        await asyncio.sleep(0.02)
        if self._file.exists():
            raise ModelUnavailable("connection refused", retry_after=self._retry_after)


def asking(checker: str, base_url: str, **judge: Any) -> Checker[Any]:
    """An installed checker with its defaults, whose judge is an endpoint; to be called on the event loop."""
    plugin = next(plugin for plugin in own_checkers() if plugin.name == checker)
    endpoint = _endpoint(base_url, **{"concurrency": 64, **judge})
    return plugin.build(plugin.settings(), Models(judge=endpoint, writer=endpoint.model))


def cascading(base_url: str, screen: Judge, *, accept_from: float, reject_below: float, **judge: Any) -> Checker[Any]:
    """The consistency checker with `screen` before an endpoint; to be called on the event loop."""
    plugin = next(plugin for plugin in own_checkers() if plugin.name == "consistency")
    thresholds = {"accept_from": accept_from, "reject_below": reject_below}
    settings = plugin.settings.model_validate({"thresholds": thresholds})
    return plugin.build(settings, Models(judge=_endpoint(base_url, **judge), screen=screen))


def improver(base_url: str) -> Improver:
    """The installed improver, whose judge and writer is an endpoint; to be called on the event loop."""
    plugin, brought = next((plugin, plugin.improver) for plugin in own_checkers() if plugin.improver)
    endpoint = _endpoint(base_url)
    checker = plugin.build(plugin.settings(), Models(judge=endpoint, writer=endpoint.model))
    return brought(checker, endpoint.model)


def _endpoint(base_url: str, **settings: Any) -> PromptedJudge:
    from models.build import build_judge
    from models.settings import JudgeSettings

    given = {"backend": "openai", "base_url": base_url, "model": "stub", "form": "short", "threshold": 0.0, **settings}
    judge = build_judge(JudgeSettings.model_validate(given))
    assert isinstance(judge, PromptedJudge)
    return judge


CHECKERS: dict[str, Callable[..., Checker[Any]]] = {
    "accept": Accept,
    "sleep": Sleep,
    "waiting": Waits,
    "computing": Computes,
    "asking": asking,
    "recalls": Recalls,
    "concludes": Concludes,
}
