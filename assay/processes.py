"""A worker of several processes: one process that starts the others, keeps them running and ends them."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final

import structlog

from assay.cli.front_door import WRONG_USE

_STARTED: Final = b"started\n"
"""Said by a process on its standard output once it has started."""

_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 30.0
"""Between restarts of one process: a broker that is away is asked no more often."""

_WELL_SECONDS: Final = 60.0
"""A process that has run for so long was well: the pause before its next restart is the first again."""

_log = structlog.get_logger(__name__)


class Processes:
    """Runs commands side by side, until a signal.

    A process that ends by itself is started again. One that ends before it ever started has said why, as has one that
    is used wrongly: it would do so again, and all end, with its status.
    """

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._keeping: list[asyncio.Task[int]] = []
        self._asked = False

    async def run(self) -> int:
        """Start them, the first before the others; returns the exit status.

        SIGTERM and SIGINT let all stop in good order; a second one ends them at once.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        first_started = asyncio.Event()
        self._keeping = [
            asyncio.create_task(self._keep(number, first_started)) for number in range(len(self._commands))
        ]
        statuses = []
        for ended in asyncio.as_completed(self._keeping):
            with contextlib.suppress(asyncio.CancelledError):
                statuses.append(await ended)
            if not self._asked:
                self._stop()
        status = next(filter(None, statuses), 0)
        _log.info("all processes stopped", processes=len(self._commands), status=status)
        return status

    def _stop(self) -> None:
        self._asked = True
        for number, task in enumerate(self._keeping):
            if (process := self._running.get(number)) is None:
                task.cancel()
            else:
                process.terminate()

    async def _keep(self, number: int, first_started: asyncio.Event) -> int:
        """Run one process again and again; returns its last status."""
        if number > 0:
            await first_started.wait()
        loop = asyncio.get_running_loop()
        pause, ever_started = _FIRST_PAUSE_SECONDS, False
        while True:
            begun = loop.time()
            process = await asyncio.create_subprocess_exec(
                *self._commands[number],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                # Ctrl-C reaches the whole group of a terminal, and each would see a second signal from here.
                process_group=0,
            )
            self._running[number] = process
            assert process.stdout is not None  # noqa: S101 - it was asked for
            async for line in process.stdout:
                if line == _STARTED:
                    ever_started = True
                    if number == 0:
                        first_started.set()
            status = await process.wait()
            del self._running[number]
            # As shells count a program that a signal ended.
            status = 128 - status if status < 0 else status
            if self._asked or not ever_started or status == WRONG_USE:
                return status
            if loop.time() - begun >= _WELL_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            _log.error("process ended", process=number, status=status, starts_again_in_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def command(*arguments: str) -> list[str]:
    """The command that runs `assay` with these arguments, by this Python."""
    return [sys.executable, "-m", "assay", *arguments]


def tell_started() -> None:
    """Say that this process, one of several, has started."""
    os.write(sys.stdout.fileno(), _STARTED)


def end_with_the_first() -> None:
    """End this process in good order when the one that started it is gone, though it was killed."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="end-with-the-first").start()
