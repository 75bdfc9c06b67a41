"""Servers of vector stores on loopback: a real Chroma, one that refuses, and one that says nothing."""

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from tests.support.ports import free_port
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


def chroma(place: Path | int) -> "ClientAPI":
    """A client of the store in a folder, or of the server at a port."""
    import chromadb
    from chromadb.config import Settings

    # New settings each time: a client keeps and changes them.
    settings = Settings(anonymized_telemetry=False)
    if isinstance(place, Path):
        return chromadb.PersistentClient(place, settings)
    return chromadb.HttpClient("127.0.0.1", place, settings=settings)


@contextlib.contextmanager
def running_chroma(folder: Path) -> Iterator[int]:
    """A Chroma server with its data in `folder`; yields its port."""
    port = free_port()
    program = Path(sys.executable).with_name("chroma")
    command = [program, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={"ANONYMIZED_TELEMETRY": "False"})
    try:

        def answers() -> bool:
            assert process.poll() is None, (folder / "server.log").read_text()
            with contextlib.suppress(httpx.TransportError):
                return httpx.get(f"http://127.0.0.1:{port}/api/v2/heartbeat").is_success
            return False

        wait_until(answers)
        yield port
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def refusing_server() -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Answers everything with 403 and two lines; yields its port, and path and headers of the requests so far."""
    seen: list[dict[str, str]] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({"path": self.path} | {name.lower(): value for name, value in self.headers.items()})
            self.send_response(403)
            self.send_header("Content-Length", "13")
            self.end_headers()
            self.wfile.write(b"no entry\nhere")

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port, seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def silent_server() -> Iterator[int]:
    """Takes connections and never says anything; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
