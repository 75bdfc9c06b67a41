"""A PostgreSQL for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import Postgres, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server with pgvector."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def database(postgres: Postgres, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database of the test's own, with the extension."""
    with postgres.database(f"t{abs(hash(request.node.nodeid)):x}") as url:
        yield url
