"""Servers for the tests of this folder, each started once."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import Postgres
from tests.support.store_servers import chroma, running_chroma

OWN = {"ids": ["a", "b"], "embeddings": [[1.0, 2.0], [3.0, 4.0]], "documents": ["one", "two"]}
"""What is in a collection of the user's."""


@pytest.fixture
def database(postgres: Postgres, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database of the test's own, with the extension."""
    with postgres.database(f"t{abs(hash(request.node.nodeid)):x}") as url:
        yield url


@pytest.fixture(scope="session")
def chroma_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Of a Chroma server with a collection of the user's."""
    with running_chroma(tmp_path_factory.mktemp("chroma")) as port:
        client = chroma(port)
        client.create_collection("the-users", embedding_function=None).add(**OWN)
        client.close()
        yield port
