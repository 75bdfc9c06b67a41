"""One CoreNLP server for all that test at once: the first starts it, the last ends it."""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from filelock import FileLock

from assay.corenlp.fetching import cache_folder, class_path
from assay.corenlp.serving import CoreNLPServer, answers
from tests.support.ports import free_port

ADDRESS_VARIABLE = "ASSAY_TEST_CORENLP"
"""The address of a server to test with instead."""

_DOWN_SECONDS = 20.0


@contextlib.contextmanager
def shared_corenlp() -> Iterator[str]:
    """Its address. Test processes that run side by side share one server of 1.5 GB."""
    given = os.environ.get(ADDRESS_VARIABLE)
    if given:
        yield given
        return
    folder = cache_folder() / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    lock, state = FileLock(folder / "lock"), folder / "server.json"
    with lock:
        server, port, users = _living(state)
        if server is None:
            server, port, users = _started(folder)
        _write(state, server, port, [*users, os.getpid()])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        with lock:
            server, port, users = _living(state)
            left = [one for one in users if one != os.getpid()]
            if server is not None and left:
                _write(state, server, port, left)
            elif server is not None:
                _end(server)
                state.unlink()


def fetched() -> None:
    """Have the jars in the cache: one process at a time."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "tests.lock"):
        class_path()


def _started(folder: Path) -> tuple[int, int, list[int]]:
    fetched()
    port = free_port()
    server = CoreNLPServer(folder, port=port, memory="2g", threads=2)
    server.start()
    assert server.process_id is not None
    return server.process_id, port, []


def _living(state: Path) -> tuple[int | None, int, list[int]]:
    """The server's process, its port and who uses it, where it still runs; users that ended without a word left out."""
    if not state.exists():
        return None, 0, []
    known = json.loads(state.read_text())
    users = [one for one in known["users"] if psutil.pid_exists(one)]
    if _runs(known["server"]) and answers(known["port"]):
        return known["server"], known["port"], users
    return None, 0, []


def _write(state: Path, server: int, port: int, users: list[int]) -> None:
    state.write_text(json.dumps({"server": server, "port": port, "users": users}))


def _runs(process: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        found = psutil.Process(process)
        return found.status() != psutil.STATUS_ZOMBIE and "java" in found.name()
    return False


def _end(process: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(process).terminate()
    deadline = time.monotonic() + _DOWN_SECONDS
    while _runs(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    with contextlib.suppress(psutil.NoSuchProcess):
        if _runs(process):
            psutil.Process(process).kill()
