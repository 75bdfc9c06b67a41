"""Worker processes that are started again when they end, as a service manager does."""

import contextlib
import resource
import threading
import time
from collections import Counter
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

import psutil

from tests.support.cluster import WELL_SECONDS
from tests.support.workers import WorkerProcess

_LOOK_SECONDS = 0.2


class Member:
    """One worker process after the other, with the same settings and clock."""

    def __init__(self, name: str, agents: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
        self.name = name
        self.clock = folder / f"{name}.clock"
        self.clock.write_text("0")
        self.ended: Counter[int] = Counter()
        """Statuses with which it ended by itself."""
        self.most_bytes = 0
        """The most memory that it was seen to hold."""
        self._agents, self._settings = agents, settings
        self._log = folder / f"{name}.log"
        self._process: WorkerProcess | None = None
        self._changing = threading.RLock()

    def start(self) -> None:
        with self._changing:
            self._process = WorkerProcess(self._agents, self._settings, self._log, level="WARNING", clock=self.clock)

    def kill(self) -> None:
        """SIGKILL; it is not started again by itself."""
        if (process := self._let_go()) is not None:
            process.kill()

    def terminate(self) -> int | None:
        """SIGTERM, and wait; its status. It is not started again by itself."""
        process = self._let_go()
        return None if process is None else process.terminate()

    def _let_go(self) -> WorkerProcess | None:
        with self._changing:
            process, self._process = self._process, None
            return process

    def freeze(self) -> None:
        if self._process is not None:
            self._process.signal(SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None:
            self._process.signal(SIGCONT)

    def fill_disk(self) -> None:
        """Let no file grow but for some lines of its log."""
        self._limit_files(self._log.stat().st_size + 50_000)

    def empty_disk(self) -> None:
        self._limit_files(resource.RLIM_INFINITY)

    def _limit_files(self, at_most: int) -> None:
        # It may end at any moment.
        if (process := self._process) is not None:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (at_most, resource.RLIM_INFINITY))

    def shift_clock(self, seconds: int) -> None:
        self.clock.write_text(str(seconds))

    def wait_ready(self) -> bool:
        """Wait until it is ready, whatever it does meanwhile; false if it does not come to that."""
        deadline = time.monotonic() + WELL_SECONDS
        while (process := self._process) is not None and not process.ready:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def look(self) -> None:
        """Start it again if it has ended by itself."""
        with self._changing:
            process = self._process
            if process is None:
                return
            if process.exit_status is None:
                with contextlib.suppress(psutil.Error):
                    self.most_bytes = max(self.most_bytes, process.resident_bytes)
                return
            self.ended[process.exit_status or 0] += 1
            self.start()
