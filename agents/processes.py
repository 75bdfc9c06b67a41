"""Several processes of one worker, which one more supervises."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from typing import Final

import structlog

WRONG_USE = 2  # Exit status of a process that would fail again.
_STARTED: Final = b"started\n"  # A process writes this to its standard output once it has started.
_RESTART_SECONDS: Final = 2.0  # From a process's end to its next start.

_log = structlog.get_logger(__name__)


class Processes:
    """Runs commands at the same time until a signal.

    A process that ends by itself is started again. If one never started, or was used wrongly, all end with its status.
    """

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._keeping: list[asyncio.Task[int]] = []
        self._first_started = asyncio.Event()
        self._asked = False

    async def run(self) -> int:
        """Start them, the first before the others, and stop all at SIGTERM or SIGINT; returns the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)
        self._keeping = [asyncio.create_task(self._keep(number)) for number in range(len(self._commands))]
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

    async def _keep(self, number: int) -> int:
        """Run one process again and again; returns its last status."""
        if number > 0:
            await self._first_started.wait()
        ever_started = False
        while True:
            # Ctrl-C reaches a terminal's whole group; without their own, each would get a second signal from here.
            process = self._running[number] = await asyncio.create_subprocess_exec(
                *self._commands[number], stdin=PIPE, stdout=PIPE, process_group=0
            )
            assert process.stdout is not None  # noqa: S101 - it was asked for
            async for line in process.stdout:
                if line == _STARTED:
                    ever_started = True
                    if number == 0:
                        self._first_started.set()
            status = await process.wait()
            del self._running[number]
            # As shells count a program that a signal ended.
            status = 128 - status if status < 0 else status
            if self._asked or not ever_started or status == WRONG_USE:
                return status
            _log.error("process ended", process=number, status=status, starts_again_in_seconds=_RESTART_SECONDS)
            await asyncio.sleep(_RESTART_SECONDS)


def report_started() -> None:
    """Report that this process, one of several, has started."""
    os.write(sys.stdout.fileno(), _STARTED)


def end_with_supervisor() -> None:
    """End this process in good order when its supervisor is gone, even if that was killed."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="end-with-supervisor").start()
