"""Qdrant in memory, in a folder, and over HTTP."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from lab.audit.stores.store import StoreFailed
from tests.support.ports import free_port
from tests.support.store_servers import QdrantServer, refusing_server, running_qdrant, silent_server
from tests.support.stores import StorePromises, opened


def fill(client: QdrantClient) -> None:
    """A collection of the user's."""
    client.create_collection("the-users", models.VectorParams(size=2, distance=models.Distance.DOT))
    client.upsert("the-users", models.Batch(ids=[1, 2], vectors=[[1, 2], [3, 4]], payloads=[{"text": "one"}, {}]))


def found(client: QdrantClient) -> object:
    """All that is there, for comparing."""
    names = [collection.name for collection in client.get_collections().collections]
    return {name: client.scroll(name, with_vectors=True)[0] for name in names}


class TestInMemory(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "qdrant:"


class TestInAFolder(StorePromises):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        client = QdrantClient(path=str(tmp_path))
        fill(client)
        client.close()
        return f"qdrant:{tmp_path}"

    @pytest.fixture
    def contents(self, tmp_path: Path) -> Callable[[], object]:
        def read() -> object:
            client = QdrantClient(path=str(tmp_path))
            try:
                assert found(client)
                return found(client), sorted(tmp_path.rglob("*"))
            finally:
                client.close()

        return read

    def test_a_folder_that_somebody_has_open_can_be_used(self, url, tmp_path):
        held = QdrantClient(path=str(tmp_path))
        try:
            with opened(url) as store:
                store.nearest(np.ones((2, 4), np.float32), np.ones(4, np.float32))
        finally:
            held.close()


@pytest.fixture(scope="module")
def server() -> Iterator[QdrantServer]:
    """With a collection of the user's."""
    with running_qdrant() as server:
        fill(server.engine)
        yield server


class TestOverHttp(StorePromises):
    @pytest.fixture
    def url(self, server: QdrantServer) -> str:
        return f"qdrant+http://127.0.0.1:{server.port}"

    @pytest.fixture
    def contents(self, server: QdrantServer) -> Callable[[], object]:
        return lambda: found(server.engine)

    @pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
    def test_the_key_comes_from_the_environment_and_the_path_is_kept(self, url, server, monkeypatch):
        server.keys.clear()
        monkeypatch.setenv("QDRANT_API_KEY", "k-1")
        with opened(f"{url}/vectors/") as store:
            store.nearest(np.ones((2, 4), np.float32), np.ones(4, np.float32))
        # The first question, whether anybody is there, needs no key.
        assert server.keys - {None} == {"k-1"}
        assert server.paths[-1].startswith("/vectors/collections/assay-audit-")


def test_a_refusal_is_one_line():
    with (
        refusing_server() as (port, _),
        opened(f"qdrant+http://127.0.0.1:{port}") as store,
        pytest.raises(StoreFailed, match=r"^Qdrant: .*403") as raised,
    ):
        store.nearest(np.ones((2, 4), np.float32), np.ones(4, np.float32))
    assert "\n" not in str(raised.value)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    told = r"no folder can be made in .*missing: No such file"
    with pytest.raises(StoreFailed, match=told), opened(f"qdrant:{tmp_path / 'missing'}"):
        pass


def test_a_server_that_is_not_there_or_says_nothing_is_told(monkeypatch):
    monkeypatch.setattr("lab.audit.stores.store._PATIENCE_SECONDS", 0.5)
    url = f"qdrant+http://127.0.0.1:{free_port()}"
    with pytest.raises(StoreFailed, match="cannot be reached"), opened(url):
        pass
    with silent_server() as port:
        url = f"qdrant+http://127.0.0.1:{port}"
        with pytest.raises(StoreFailed, match=r"did not answer within 0\.5 s"), opened(url):
            pass
