"""Chroma in memory, in a folder and as a real server."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from lab.audit.stores.store import StoreFailed
from tests.lab.audit.conftest import OWN
from tests.support.ports import free_port
from tests.support.store_servers import refusing_server, silent_server
from tests.support.stores import StorePromises, distances, opened


def quiet() -> Settings:
    """New ones each time: a client keeps and changes them."""
    return Settings(anonymized_telemetry=False)


def found(client) -> object:
    """All that is there, for comparing."""
    everything = {}
    for collection in client.list_collections():
        got = collection.get(include=["embeddings", "documents"])
        everything[collection.name] = (got["ids"], got["embeddings"].tolist(), got["documents"])
    return everything


class TestInMemory(StorePromises):
    @pytest.fixture
    def url(self) -> str:
        return "chroma:"


class TestInAFolder(StorePromises):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        client = chromadb.PersistentClient(tmp_path, quiet())
        client.create_collection("the-users", embedding_function=None).add(**OWN)
        client.close()
        return f"chroma:{tmp_path}"

    @pytest.fixture
    def contents(self, tmp_path: Path) -> Callable[[], object]:
        def read() -> object:
            names = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
            client = chromadb.PersistentClient(tmp_path, quiet())
            try:
                assert found(client)
                return found(client), names
            finally:
                client.close()

        return read


class TestAServer(StorePromises):
    @pytest.fixture
    def url(self, chroma_port: int) -> str:
        return f"chroma+http://127.0.0.1:{chroma_port}"

    @pytest.fixture
    def contents(self, chroma_port: int) -> Callable[[], object]:
        def read() -> object:
            client = chromadb.HttpClient("127.0.0.1", chroma_port, settings=quiet())
            try:
                assert found(client)
                return found(client)
            finally:
                client.close()

        return read

    def test_emptied_collections_answer_as_fresh_ones_do(self, url, contents, monkeypatch):
        monkeypatch.setattr("lab.audit.stores.chroma._CASES_OF_A_COLLECTION", 8)
        before = contents()
        rng = np.random.default_rng(7)
        base = rng.normal(size=8).astype(np.float32)
        with opened(url, "euclidean", dimension=8) as store:
            # All around the same place, and more cases than two collections serve.
            for _ in range(20):
                pair = (base + rng.normal(scale=0.1, size=(2, 8))).astype(np.float32)
                assert store.nearest(pair, base) == int(np.argmin(distances("euclidean", base, pair)))
        assert contents() == before

    def test_a_tenant_and_a_database_follow_the_port(self, url):
        with opened(f"{url}/default_tenant/default_database") as store:
            assert store.nearest(np.ones((1, 4), np.float32), np.ones(4, np.float32)) == 0
        with pytest.raises(StoreFailed, match="Chroma: "), opened(f"{url}/nobody/nothing"):
            pass


MEASURED = """
import gc, sys
import numpy as np
import psutil
from tests.support.stores import opened

process, vectors = psutil.Process(), np.ones((2, 16), dtype=np.float32)
with opened(f"chroma:{sys.argv[1]}", dimension=16) as store:
    for _ in range(10):
        store.nearest(vectors, vectors[0])
    gc.collect()
    files, memory = process.num_fds(), process.memory_info().rss
    for _ in range(48):
        store.nearest(vectors, vectors[0])
    print(process.num_fds() - files, process.memory_info().rss - memory)
"""


def test_memory_and_open_files_stay_bounded(tmp_path):
    # In a process of its own: what other tests have left running takes tens of MB at any moment.
    run = subprocess.run([sys.executable, "-c", MEASURED, str(tmp_path)], capture_output=True, text=True, check=True)
    files, memory = map(int, run.stdout.split())
    assert files < 60
    # Collections that are kept take 2.6 MB each.
    assert memory < 100_000_000
    assert list(tmp_path.iterdir()) == []


def test_no_environment_file_of_the_current_folder_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("CHROMA_API_IMPL=nonsense\nIS_PERSISTENT=TRUE\n")
    with opened("chroma:", dimension=2) as store:
        vectors = np.ones((2, 2), dtype=np.float32)
        assert store.nearest(vectors, vectors[0]) in (0, 1)
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    told = r"no folder can be made in .*missing: No such file"
    with pytest.raises(StoreFailed, match=told), opened(f"chroma:{tmp_path / 'missing'}"):
        pass


def test_a_refusal_is_one_line_and_the_key_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("CHROMA_API_KEY", "k-1")
    with refusing_server() as (port, seen):
        with pytest.raises(StoreFailed, match=r"^Chroma: ") as raised, opened(f"chroma+http://127.0.0.1:{port}"):
            pass
        # The first question, whether anybody is there, needs no key.
        assert [request.get("x-chroma-token") for request in seen][1:] == ["k-1"] * (len(seen) - 1)
        assert len(seen) > 1
    assert "\n" not in str(raised.value)
    assert "k-1" not in str(raised.value)


def test_a_server_that_is_not_there_or_says_nothing_is_told(monkeypatch):
    monkeypatch.setattr("lab.audit.stores.store._PATIENCE_SECONDS", 0.5)
    url = f"chroma+http://127.0.0.1:{free_port()}"
    with pytest.raises(StoreFailed) as raised, opened(url):
        pass
    assert str(raised.value).startswith(f"{url} cannot be reached: ")
    with silent_server() as port:
        url = f"chroma+http://127.0.0.1:{port}"
        with pytest.raises(StoreFailed, match=r"did not answer within 0\.5 s"), opened(url):
            pass
