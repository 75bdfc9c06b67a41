"""Models as the Hugging Face hub lays them out: in its cache on disk, and behind its HTTP interface."""

import contextlib
import hashlib
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import orjson
import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"

Files = Mapping[str, bytes]


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def keep(cache: Path, repository: str, files: Files, *, commit: str = COMMIT) -> Path:
    """Lay files into the hub's cache as if they had been downloaded."""
    root = cache / f"models--{repository.replace('/', '--')}"
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    (root / "refs").mkdir(exist_ok=True)
    (root / "refs" / "main").write_text(commit)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@contextlib.contextmanager
def empty_cache(folder: Path, endpoint: str) -> Iterator[Path]:
    """The hub's library in this process with a cache of the test's own, and this server as the hub."""
    from huggingface_hub import constants

    with pytest.MonkeyPatch.context() as patch:
        # It is read at the import, which may have been in a test without a network.
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.setattr(constants, "HF_HUB_CACHE", str(folder))
        patch.setattr(constants, "ENDPOINT", endpoint)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
        yield folder


class HubServer:
    """Serves the files of repositories at one commit, and counts what it was asked."""

    def __init__(self) -> None:
        self.repositories: dict[str, Files] = {}
        self.asked: list[str] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[str]:
        """The address for as long as the context lasts."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                hub.answer(self, with_body=False)

            def do_GET(self) -> None:
                hub.answer(self, with_body=True)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, *, with_body: bool) -> None:
        path = unquote(request.path.partition("?")[0]).strip("/")
        self.asked.append(path)
        headers, body = {"X-Repo-Commit": COMMIT}, None
        if path.startswith("api/models/"):
            repository = path.removeprefix("api/models/").partition("/revision/")[0]
            if repository in self.repositories:
                siblings = [{"rfilename": name} for name in self.repositories[repository]]
                body = orjson.dumps({"id": repository, "sha": COMMIT, "siblings": siblings})
        else:
            repository, _, name = path.partition(f"/resolve/{COMMIT}/")
            body = self.repositories.get(repository, {}).get(name)
            if body is not None:
                headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()}"'
        request.send_response(404 if body is None else 200)
        if body is None:
            headers["X-Error-Code"] = "RepoNotFound"
        for header, value in {**headers, "Content-Length": str(len(body or b""))}.items():
            request.send_header(header, value)
        request.end_headers()
        if with_body and body:
            request.wfile.write(body)
