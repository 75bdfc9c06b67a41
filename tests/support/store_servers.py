"""Servers of vector stores on loopback: a real Chroma, and Qdrant's wire format before Qdrant's own local engine.

Qdrant's server is a program of its own that no Python package brings. Its client library, though, speaks to it over
HTTP and has a second implementation of the same calls within the process: `running_qdrant` puts the one behind the
other, so that what is sent and understood is what the client library itself says it is.
"""

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
from qdrant_client import QdrantClient, models

from tests.support.ports import free_port
from tests.support.waiting import wait_until


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


@dataclass
class QdrantServer:
    """What answers, and what it was asked."""

    port: int
    engine: QdrantClient
    keys: set[str | None] = field(default_factory=set)
    """The API keys that came with requests."""
    paths: list[str] = field(default_factory=list)


class _QdrantRequests(BaseHTTPRequestHandler):
    running: QdrantServer

    def do_GET(self) -> None:
        self._answer({"title": "qdrant - vector search engine"})

    def do_PUT(self) -> None:
        body, (name, *rest) = self._body(), self._place()
        if rest:
            points = models.PointsBatch.model_validate(body)
            self.running.engine.upsert(name, points.batch)
            self._answer({"operation_id": 0, "status": "completed"})
        else:
            collection = models.CreateCollection.model_validate(body)
            assert isinstance(collection.vectors, models.VectorParams)
            self._answer(self.running.engine.create_collection(name, vectors_config=collection.vectors))

    def do_POST(self) -> None:
        query, (name, *_) = models.QueryRequest.model_validate(self._body()), self._place()
        found = self.running.engine.query_points(name, query=query.query, limit=query.limit or 10)
        self._answer(found.model_dump(mode="json"))

    def do_DELETE(self) -> None:
        self._answer(self.running.engine.delete_collection(self._place()[0]))

    def _place(self) -> list[str]:
        self.running.paths.append(self.path)
        return self.path.partition("?")[0].partition("/collections/")[2].split("/")

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, result: object) -> None:
        self.running.keys.add(self.headers["api-key"])
        content = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


class _QuietServer(HTTPServer):
    def handle_error(self, *_: object) -> None:
        """A request that fails is a connection that ends; its client tells the test."""


@contextlib.contextmanager
def running_qdrant() -> Iterator[QdrantServer]:
    """Answers the requests that make, fill, ask and drop collections."""
    running = QdrantServer(0, QdrantClient(":memory:"))
    server = _QuietServer(("127.0.0.1", 0), type("_Bound", (_QdrantRequests,), {"running": running}))
    running.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        running.engine.close()


@contextlib.contextmanager
def refusing_server() -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Answers everything with 403 and two lines; yields its port and the headers of the requests so far."""
    seen: list[dict[str, str]] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
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
