"""The stand-in for an endpoint as a process of its own, so that it does not take the worker's time."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from tests.support.workers import ROOT


@contextlib.contextmanager
def endpoint(*, delay: float, limit: int, never_longer_than: int | None = None) -> Iterator[int]:
    """Its port, while it runs.

    Args:
        delay: Seconds to an answer.
        limit: Requests under way at once; those beyond wait.
        never_longer_than: Characters of a request's messages that are answered; without it all are.
    """
    command = [sys.executable, "-m", "tests.support.stub_endpoint", "--port", "0"]
    command += ["--delay", str(delay), "--limit", str(limit)]
    if never_longer_than is not None:
        command += ["--never-longer-than", str(never_longer_than)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it was asked for
            yield int(process.stdout.readline())
        finally:
            process.kill()
