"""A worker in a process of its own: `python -m tests.support.worker_process '{"checkers": ..., "settings": ...}'`."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import psutil

READY_SECONDS = 60.0
"""Imports of 2 s on an idle machine, and a group that waits for a dead member's session."""

EXIT_SECONDS = 40.0
"""The drain time of 20 s and as much for a machine that is busy to its limits."""

ROOT = Path(__file__).parents[2]


class WorkerProcess:
    """Starts a worker, waits until it is ready, signals it and reads its metrics."""

    module = "tests.support.worker_process"
    """What the process runs."""

    def __init__(
        self, checkers: list[dict[str, Any]], settings: dict[str, Any], log: Path, *, waiting: bool = False
    ) -> None:
        """`checkers`: `{"type": "sleep", ...}`, the rest goes to its constructor, `improver` is one of the types;
        `log`: where its output is added.

        A `waiting` one imports what it needs, and then waits for `go`.
        """
        self.log = log
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        spec = {"checkers": checkers, "settings": settings | {"http": {"port": self.port}}, "waiting": waiting}
        command = [sys.executable, "-m", self.module, json.dumps(spec)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out, cwd=ROOT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def go(self) -> Self:
        """Let a waiting one begin."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self

    @property
    def resident_bytes(self) -> int:
        """Memory that it holds now."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=5)

    def metric(self, series: str) -> float:
        """The value of one series, named as it is printed; 0 where it is not there."""
        for line in self.get("/metrics").text.splitlines():
            name, _, value = line.rpartition(" ")
            if name == series:
                return float(value)
        return 0.0

    def wait_for(self, series: str, at_least: float, seconds: float = 30.0) -> None:
        """Return when a metric has reached a value."""
        deadline = time.monotonic() + seconds
        while (value := self.metric(series)) < at_least:
            assert time.monotonic() < deadline, f"{series} is {value}, expected {at_least}:\n{self._tail()}"
            time.sleep(0.05)

    def wait_ready(self, seconds: float = READY_SECONDS) -> Self:
        deadline = time.monotonic() + seconds
        while True:
            assert self.alive, f"worker ended with {self.process.returncode}:\n{self._tail()}"
            assert time.monotonic() < deadline, f"worker not ready:\n{self._tail()}"
            try:
                if self.get("/readyz").status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.05)

    def kill(self) -> None:
        """kill -9."""
        if self.alive:
            self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def terminate(self) -> int:
        """SIGTERM; the exit status."""
        self.signal()
        return self.process.wait(EXIT_SECONDS)

    def _tail(self) -> str:
        return self.log.read_text()[-3000:]


def _main(text: str) -> int:
    from agents.worker import Worker, run
    from streams.logs import configure_logs
    from streams.settings import StreamSettings
    from tests.support.agents import agent_of

    spec = json.loads(text)
    configure_logs("INFO")
    settings = StreamSettings.model_validate(spec["settings"])
    if spec["waiting"]:
        sys.stdin.readline()

    async def factory() -> Worker:
        return Worker([agent_of(**each) for each in spec["checkers"]], settings)

    return run(factory)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
