"""Watches Kafka for the page: whether each checker keeps up, and what became of the records.

Where a group stands costs two small requests. The accounts read every message, so they are counted beside, in a thread;
an hour of which nothing is held any more is counted once, and counting takes at most a tenth of the time.
"""

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from aiokafka.errors import KafkaError

from assay.accounts import Accounts, Hour, groups_of, row_of, take_accounts
from assay.config import Configuration
from streams.errors import StreamError
from streams.groups import committed_offsets, end_offsets
from web.standing import CheckerAccounts, CheckerStanding, Standing

_LOOK_SECONDS: Final = 5.0
_STILL_SECONDS: Final = 60.0
"""A check may take most of a minute, and a group comes to rest within some ten seconds."""

_BEHIND_SECONDS: Final = 60.0
"""A wait that is no longer, at the present pace, is no delay that anybody sees."""

_LOOKS: Final = 24
"""Two minutes: all through the second more waited than when the first began."""

_COUNT_SECONDS: Final = 60.0
_SHARE_OF_TIME: Final = 0.1
_HOURS: Final = 24

_AWAY: Final = (StreamError, KafkaError, OSError)
"""Raised where no broker answers, or one begins to and does not end."""

_FIRST: Final = {"stopped": 0, "behind": 1, "runs": 2}


class _Look(NamedTuple):
    at: float
    finished: int
    waiting: int


class Progress:
    """The progress of one checker, as seen from time to time."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque(maxlen=_LOOKS)
        self._moved = 0.0
        self._since = datetime.now(UTC)

    def look(self, at: float, committed: Mapping[int, int], ends: Mapping[int, int]) -> None:
        waiting = sum(max(0, end - committed.get(number, 0)) for number, end in ends.items())
        finished = sum(committed.values())
        if not self._looks or not waiting or finished != self._looks[-1].finished:
            self._moved, self._since = at, datetime.now(UTC)
        self._looks.append(_Look(at, finished, waiting))

    def standing(self, checker: str, still_seconds: float) -> CheckerStanding:
        first, last = self._looks[0], self._looks[-1]
        stopped = last.waiting > 0 and last.at - self._moved >= still_seconds
        pace = (last.finished - first.finished) / max(last.at - first.at, _LOOK_SECONDS)
        waited = min(look.waiting for look in list(self._looks)[_LOOKS // 2 :] or [last])
        behind = len(self._looks) == _LOOKS and waited > max(first.waiting, pace * _BEHIND_SECONDS)
        return CheckerStanding(
            checker, "stopped" if stopped else "behind" if behind else "runs", last.waiting, self._since
        )


class StandingWatch:
    """Looks at Kafka as long as it runs; `now` is what the page shows."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        still_seconds: float = _STILL_SECONDS,
        look_seconds: float = _LOOK_SECONDS,
        count_seconds: float = _COUNT_SECONDS,
    ) -> None:
        """`still_seconds`: a checker that has finished nothing for so long has stopped, if something waits."""
        self._configuration = configuration
        self._still_seconds = still_seconds
        self._look_seconds = look_seconds
        self._count_seconds = count_seconds
        self._progress: dict[str, Progress] = {}
        self._fates: dict[tuple[str, Hour], Counter[str]] = {}
        self._standing = Standing()

    def now(self) -> Standing:
        return self._standing

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["StandingWatch"]:
        """Watched for as long as the context lasts."""
        tasks = [asyncio.create_task(self._look_on()), asyncio.create_task(self._count_on())]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            for error in ended:
                if isinstance(error, Exception):
                    raise error

    async def _look_on(self) -> None:
        while True:
            try:
                checkers = await self._look()
            except _AWAY as error:
                # What was known of them may be far from true by now.
                self._progress.clear()
                self._standing = replace(self._standing, away=str(error) or type(error).__name__, checkers=None)
            else:
                self._standing = replace(self._standing, away=None, checkers=checkers)
            await asyncio.sleep(self._look_seconds)

    async def _look(self) -> list[CheckerStanding]:
        streams = self._configuration.streams
        groups = groups_of(self._configuration)
        found = await committed_offsets(streams.kafka, streams.topics.outputs, [*groups.values()])
        ends = await end_offsets(streams.kafka, streams.topics.outputs)
        at = time.monotonic()
        for name, group in groups.items():
            if found[group] or name in self._configuration.routing.checkers:
                self._progress.setdefault(name, Progress()).look(at, found[group], ends)
        told = [progress.standing(name, self._still_seconds) for name, progress in self._progress.items()]
        return sorted(told, key=lambda one: (_FIRST[one.state], one.checker))

    async def _count_on(self) -> None:
        while True:
            begun = time.monotonic()
            # What the look-out says of Kafka holds for the accounts, too.
            with contextlib.suppress(*_AWAY):
                await self._count()
            await asyncio.sleep(max(self._count_seconds, (time.monotonic() - begun) / _SHARE_OF_TIME))

    async def _count(self) -> None:
        now = datetime.now(UTC)
        hour = now.replace(minute=0, second=0, microsecond=0)
        earliest = hour - timedelta(hours=_HOURS - 1)
        open_ = [one for (_, one), fates in self._fates.items() if fates["held"] and one > earliest]
        # Until an hour has passed, what is stamped by clocks that go differently may still fall into the one before.
        since = min([*open_, hour - timedelta(hours=1)]) if self._fates else earliest
        accounts = await _in_thread(take_accounts(self._configuration, since))
        kept = {key: fates for key, fates in self._fates.items() if earliest <= key[1] < since}
        self._fates = kept | accounts.fates
        self._standing = replace(self._standing, accounts=self._told(), counted_at=now)

    def _told(self) -> list[CheckerAccounts]:
        told = []
        for checker in sorted({name for name, _ in self._fates}):
            hours = {hour: row_of(fates) for (name, hour), fates in self._fates.items() if name == checker}
            rows = [{"hour": hour, **row} for hour, row in sorted(hours.items(), reverse=True) if row["taken_in"]]
            total: Counter[str] = Counter()
            for row in hours.values():
                total.update(row)
            told.append(CheckerAccounts(checker, dict(total), rows))
        return told


async def _in_thread(counting: Coroutine[Any, Any, Accounts]) -> Accounts:
    """The result of `counting`, which keeps a loop busy, run on one of its own; cancelled with the caller."""
    stopped: list[Callable[[], object]] = []

    async def run() -> Accounts:
        task = asyncio.ensure_future(counting)
        stopped.append(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        return await task

    try:
        return await asyncio.to_thread(asyncio.run, run())
    except asyncio.CancelledError:
        for stop in stopped:
            # It may have ended just now.
            with contextlib.suppress(RuntimeError):
                stop()
        raise
