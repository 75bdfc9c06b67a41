"""The service as a user runs it: `assay worker` in a process of its own, configured by variables."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.ports import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until


@dataclass(frozen=True, slots=True)
class RunningService:
    pid: int
    port: int
    """The port of its metrics and health."""

    def total(self, metric: str) -> float:
        """The sum of a metric's series."""
        lines = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=60).text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if metric == line.split(" ")[0].partition("{")[0])

    def wait_for(self, metric: str, at_least: float, seconds: float = PATIENCE_SECONDS) -> None:
        """Return when the sum of a metric's series has reached a value."""
        wait_until(lambda: self.total(metric) >= at_least, lambda: f"{metric} is {self.total(metric)}", seconds)


@contextlib.contextmanager
def running_service(servers: str, prefix: str, **environment: str) -> Iterator[RunningService]:
    """A worker with the consistency checker and the local judge; ready once the context is entered."""
    port = free_port()
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
            wait_until(lambda: _is_ready(process, port, log), lambda: f"the worker is not ready:\n{_end_of(log)}")
            yield RunningService(process.pid, port)
        finally:
            process.terminate()
            process.wait()


def _is_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> bool:
    assert process.poll() is None, f"the worker ended with {process.returncode}:\n{_end_of(log)}"
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60).status_code == httpx.codes.OK
    return False


def _end_of(log: Path) -> str:
    return log.read_text()[-2000:]
