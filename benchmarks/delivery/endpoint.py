"""The stand-in for an endpoint as its own process, so that it does not take the worker's time."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from tests.support.workers import ROOT


@contextlib.contextmanager
def endpoint(
    *,
    delay: float = 0.0,
    limit: int | None = None,
    never_longer_than: int | None = None,
    answer: str | None = None,
    script: str | None = None,
) -> Iterator[int]:
    """Its port, while it runs.

    Args:
        delay: Seconds to an answer.
        limit: Requests under way at once; those beyond wait. Without it none does.
        never_longer_than: Characters of a request's messages that are answered; without it all are.
        answer: Who answers, as MODULE:NAME; without it all claims are confirmed.
        script: Who decides what it does with a request, as MODULE:NAME.
    """
    command = [sys.executable, "-m", "tests.support.stub_endpoint", "--port", "0"]
    given = {"--delay": delay, "--limit": limit, "--never-longer-than": never_longer_than, "--answer": answer}
    given["--script"] = script
    command += [str(part) for option in given.items() if option[1] is not None for part in option]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it was asked for
            yield int(process.stdout.readline())
        finally:
            process.kill()
