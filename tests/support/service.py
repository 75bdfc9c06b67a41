"""The service as a user runs it: `assay worker` in a process of its own, configured by variables."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

_READY_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class RunningService:
    pid: int
    port: int
    """The port of its metrics and health."""

    def total(self, metric: str) -> float:
        """The sum of a metric's series."""
        lines = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=60).text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.partition("{")[0] == metric)

    def wait_for(self, metric: str, at_least: float, seconds: float = 60.0) -> None:
        """Return when the sum of a metric's series has reached a value."""
        deadline = time.monotonic() + seconds
        while (value := self.total(metric)) < at_least:
            if time.monotonic() > deadline:
                raise SystemExit(f"{metric} is {value}, expected {at_least}")
            time.sleep(0.2)


@contextlib.contextmanager
def running_service(servers: str, prefix: str, **environment: str) -> Iterator[RunningService]:
    """A worker with the consistency checker and the local judge; ready once the context is entered.

    Raises:
        SystemExit: it does not get ready; the end of its log is in it.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    variables = {
        **os.environ,
        "ASSAY_KAFKA__BOOTSTRAP_SERVERS": servers,
        "ASSAY_TOPICS__PREFIX": prefix,
        "ASSAY_HTTP__PORT": str(port),
        "ASSAY_JUDGE__BACKEND": "local",
        **environment,
    }
    command = [sys.executable, "-m", "assay", "worker", "--checkers", "consistency"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "worker.log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, env=variables, stdout=out, stderr=out)
        try:
            _wait_until_ready(process, port, log)
            yield RunningService(process.pid, port)
        finally:
            process.terminate()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the worker ended with {process.returncode}:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60).status_code == httpx.codes.OK:
                return
        time.sleep(0.2)
    raise SystemExit(f"the worker was not ready after {_READY_SECONDS:g} s:\n{log.read_text()[-2000:]}")
