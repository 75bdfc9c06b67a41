"""The service as a user runs it: `assay worker` in a process of its own, configured by variables."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.ports import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until


@dataclass(frozen=True, slots=True)
class RunningService:
    process: subprocess.Popen[bytes]
    port: int
    """The port of its metrics and health."""
    log: Path
    """What it writes."""

    @property
    def pid(self) -> int:
        return self.process.pid

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=60)

    def metrics(self) -> str:
        """All series; none while it does not listen."""
        with contextlib.suppress(httpx.TransportError):
            return self.get("/metrics").text
        return ""

    def total(self, metric: str) -> float:
        """The sum of a metric's series."""
        lines = self.metrics().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if metric == line.split(" ")[0].partition("{")[0])

    def wait_for(self, metric: str, at_least: float, seconds: float = PATIENCE_SECONDS) -> None:
        """Return when the sum of a metric's series has reached a value."""
        wait_until(lambda: self.total(metric) >= at_least, lambda: f"{metric} is {self.total(metric)}", seconds)

    def wait_ready(self) -> dict[str, str]:
        """Its parts, once all are ready."""

        def parts() -> dict[str, str] | None:
            assert self.process.poll() is None, f"the worker ended with {self.process.returncode}:\n{self.said()}"
            with contextlib.suppress(httpx.TransportError):
                answer = self.get("/readyz")
                return answer.json()["parts"] if answer.is_success else None
            return None

        return wait_until(parts, lambda: f"the worker is not ready:\n{self.said()}") or {}

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-2000:]

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def terminate(self) -> int:
        """End it in good order; the exit status."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)


@contextlib.contextmanager
def running_worker(folder: Path, *options: str, environment: Mapping[str, str]) -> Iterator[RunningService]:
    """`assay worker` in `folder`, which keeps its log; not waited for, and ended in good order with the context."""
    port, log = free_port(), folder / "worker.log"
    command = [sys.executable, "-m", "assay", "worker", *options]
    with log.open("ab") as out:
        given = {**environment, "ASSAY_HTTP__PORT": str(port)}
        process = subprocess.Popen(command, cwd=folder, env=given, stdout=out, stderr=out)
    try:
        yield RunningService(process, port, log)
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def running_service(servers: str, prefix: str, **environment: str) -> Iterator[RunningService]:
    """A worker with the consistency checker and the local judge; ready once the context is entered."""
    variables = {
        **os.environ,
        "ASSAY_KAFKA__BOOTSTRAP_SERVERS": servers,
        "ASSAY_TOPICS__PREFIX": prefix,
        "ASSAY_JUDGE__BACKEND": "local",
        **environment,
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        running_worker(Path(folder), "--checkers", "consistency", environment=variables) as service,
    ):
        service.wait_ready()
        yield service
