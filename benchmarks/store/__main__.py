"""The verdict store, on SQLite and on a PostgreSQL of this machine.

    python -m benchmarks.store [--only cost,pages] [--verdicts N] [--verdicts-shown N]

`cost`: bytes and processor time a verdict, as the archivist reads and writes it, and what 100 million come to.

`pages`: all pages over a store of a million verdicts, asked for as a browser does. A figure is wrong if of one page 95
of 100 answers do not come within 200 ms.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from psycopg.sql import SQL

from benchmarks.running import Part, run_parts
from benchmarks.store.filling import fill
from benchmarks.store.pages import measure_pages
from benchmarks.tables import table
from tests.support.postgres import running_postgres

_MANY = 100_000_000


def measure_cost(verdicts: int) -> None:
    """Print it."""
    rows = []
    for name, store in _STORES.items():
        with store() as (url, used, server_seconds):
            empty, before = used(), server_seconds()
            cost = fill(url, verdicts, read=True)
            server = server_seconds() - before
            each = (used() - empty) / verdicts
            seconds = (cost.reading + cost.writing + server) / verdicts
            rows.append(
                [
                    *(name, verdicts, round(cost.message_bytes / verdicts), round(each)),
                    *(round(part / verdicts * 1e6) for part in (cost.reading, cost.writing, server)),
                    *(round(each * _MANY / 1e9), round(seconds * _MANY / 3600, 1)),
                ]
            )
    header = ("store", "verdicts", "bytes of a message", "bytes kept", "us reading", "us writing", "us of the server")
    print(table([*header, "100 million: GB", "processor hours"], rows))


def quick_pages(verdicts: int) -> bool:
    """Fill a store in a file and print how long its pages take; false if one takes too long."""
    with _sqlite() as (url, used, _):
        cost = fill(url, verdicts)
        each = cost.writing / verdicts * 1e6
        print(f"{verdicts} verdicts: {used() / verdicts:.0f} bytes and {each:.0f} us of writing each\n")
        return measure_pages(url)


_Store = tuple[str, Callable[[], int], Callable[[], float]]
"""Its address, its bytes, and the processor seconds of its server."""


@contextmanager
def _sqlite() -> Iterator[_Store]:
    with tempfile.TemporaryDirectory(prefix="assay-store-") as folder:
        files = Path(folder)
        yield (
            f"sqlite:///{files}/verdicts.db",
            lambda: sum(file.stat().st_size for file in files.iterdir()),
            lambda: 0.0,
        )


@contextmanager
def _postgresql() -> Iterator[_Store]:
    with running_postgres() as server, server.database("store", pgvector=False) as url:
        process = psutil.Process(server.process.pid)

        def used() -> int:
            ((size,),) = server.execute("store", SQL("SELECT pg_database_size('store')"))
            return int(str(size))

        def seconds() -> float:
            # Those that have ended are its own children.
            alive = [each.cpu_times() for each in (process, *process.children(recursive=True))]
            own = process.cpu_times()
            return sum(each.user + each.system for each in alive) + own.children_user + own.children_system

        yield url, used, seconds


_STORES = {"SQLite": _sqlite, "PostgreSQL": _postgresql}

PARTS = {
    "cost": Part(lambda options: measure_cost(options.verdicts)),
    "pages": Part(lambda options: quick_pages(options.verdicts_shown)),
}


if __name__ == "__main__":
    sys.exit(
        run_parts(
            "store",
            PARTS,
            __doc__,
            {"--verdicts": (100_000, "of the part cost"), "--verdicts-shown": (1_000_000, "of the part pages")},
        )
    )
