"""Servers that all processes of a test run share: the first that needs one starts it, the end of the run ends it."""

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from filelock import FileLock

from tests.support.waiting import wait_until

_FOLDER_VARIABLE = "ASSAY_TEST_SERVERS"


@contextlib.contextmanager
def shared_servers() -> Iterator[None]:
    """For the process that controls the run. The workers of pytest-xdist inherit the variable."""
    with tempfile.TemporaryDirectory(prefix="assay-servers-", ignore_cleanup_errors=True) as folder:
        os.environ[_FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[_FOLDER_VARIABLE]
            for state in Path(folder).glob("*/server.json"):
                _end(json.loads(state.read_text())["process"])


def shared_server(name: str, start: Callable[[Path], tuple[str, int]]) -> str:
    """The address of the server; `start` takes a folder and returns address and process id."""
    folder = Path(os.environ[_FOLDER_VARIABLE]) / name
    state = folder / "server.json"
    with FileLock(f"{folder}.lock"):
        if not state.exists():
            folder.mkdir(exist_ok=True)
            address, process = start(folder)
            state.write_text(json.dumps({"address": address, "process": process}))
    return str(json.loads(state.read_text())["address"])


def _end(process: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        server = psutil.Process(process)
        server.kill()
        # A zombie has ended, and stays one where nobody collects the dead of others; what is gone raises.
        wait_until(lambda: server.status() == psutil.STATUS_ZOMBIE)
