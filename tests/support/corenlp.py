"""A CoreNLP server of 2 GB that all tests share."""

import os
from pathlib import Path

from filelock import FileLock

from checkers.equivalence.corenlp.server import CoreNLPServer, cache_folder, class_path
from tests.support.ports import free_port
from tests.support.shared_servers import shared_server

ADDRESS_VARIABLE = "ASSAY_TEST_CORENLP"
"""The address of a server to test with instead."""


def shared_corenlp() -> str:
    return os.environ.get(ADDRESS_VARIABLE) or shared_server("corenlp", _started)


def fetched() -> None:
    """Have the jars in the cache: one process at a time."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "tests.lock"):
        class_path()


def _started(folder: Path) -> tuple[str, int]:
    fetched()
    server = CoreNLPServer(folder, port=free_port(), memory="2g", threads=2)
    server.start()
    assert server.process_id is not None
    return server.url, server.process_id
