"""The stand-in for an endpoint as its own process, so that it does not take the worker's time."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tests.support.workers import ROOT


@contextlib.contextmanager
def endpoint(*, delay: float = 0.0, limit: int | None = None, script: str | None = None) -> Iterator[dict[str, Any]]:
    """What a worker is told of a consistency checker that asks it, while it runs.

    Args:
        delay: Seconds to an answer.
        limit: Requests under way at once; those beyond wait. Without it none does.
        script: Who decides what it does with a request, as MODULE:NAME.
    """
    command = [sys.executable, "-m", "tests.support.stub_endpoint", "--port", "0"]
    given = {"--delay": delay, "--limit": limit, "--script": script}
    command += [str(part) for option in given.items() if option[1] is not None for part in option]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it was asked for
            address = f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
            yield {"type": "asking", "checker": "consistency", "base_url": address}
        finally:
            process.kill()
