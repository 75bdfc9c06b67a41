"""The service as a user runs it: `assay worker` in a process of its own, configured by variables."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.support.ports import PLAIN, free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until


class Served(ABC):
    """A worker in a process of its own: its health, its metrics and its log."""

    def __init__(self, log: Path) -> None:
        self.port = free_port()
        """Of its metrics and health."""
        self.log = log
        """What it writes."""

    @property
    @abstractmethod
    def exit_status(self) -> int | None:
        """None while it runs."""

    def get(self, path: str, timeout: float = PATIENCE_SECONDS) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=timeout, verify=PLAIN)

    def metrics(self) -> str:
        """All series; none while it does not listen."""
        with contextlib.suppress(httpx.TransportError):
            return self.get("/metrics").text
        return ""

    def metric(self, series: str) -> float:
        """The value of one series, named as it is printed, or the sum of all of a name; 0 where none is there."""
        found = 0.0
        for line in self.metrics().splitlines():
            name, _, value = line.rpartition(" ")
            if series in (name, name.partition("{")[0]):
                found += float(value)
        return found

    def wait_for(self, series: str, at_least: float, seconds: float = PATIENCE_SECONDS) -> None:
        said = lambda: f"{series} is {self.metric(series)}, expected {at_least}:\n{self.said()}"  # noqa: E731
        wait_until(lambda: self.metric(series) >= at_least, said, seconds)

    def wait_for_log(self, text: str) -> None:
        wait_until(lambda: text in self.log.read_text(), lambda: f"no {text!r} in:\n{self.said()}")

    def wait_ready(self) -> dict[str, str]:
        """Its parts, once all are ready."""

        def parts() -> dict[str, str] | None:
            assert self.exit_status is None, f"the worker ended with {self.exit_status}:\n{self.said()}"
            with contextlib.suppress(httpx.TransportError):
                answer = self.get("/readyz")
                return answer.json()["parts"] if answer.is_success else None
            return None

        return wait_until(parts, lambda: f"the worker is not ready:\n{self.said()}") or {}

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-3000:]

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class RunningService(Served):
    def __init__(self, folder: Path, *options: str, environment: Mapping[str, str]) -> None:
        super().__init__(folder / "worker.log")
        command = [sys.executable, "-m", "assay", "worker", *options]
        with self.log.open("ab") as out:
            given = {**environment, "ASSAY_HTTP__PORT": str(self.port)}
            self.process = subprocess.Popen(command, cwd=folder, env=given, stdout=out, stderr=out)

    @property
    def exit_status(self) -> int | None:
        return self.process.poll()

    def terminate(self) -> int:
        """End it in good order; the exit status."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)


@contextlib.contextmanager
def running_worker(folder: Path, *options: str, environment: Mapping[str, str]) -> Iterator[RunningService]:
    """`assay worker` in `folder`, which keeps its log; not waited for, and ended in good order with the context."""
    service = RunningService(folder, *options, environment=environment)
    try:
        yield service
    finally:
        service.process.terminate()
        service.process.wait()


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
