from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.page import PageStore
from tests.support.stored import Stored


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request: pytest.FixtureRequest) -> Stored:
    """A store of the test's own, of each kind."""
    return request.getfixturevalue(f"{request.param}_store")


@pytest.fixture
def store(stored: Stored) -> Iterator[PageStore]:
    """The same, filled and read as the page does."""
    with closing(PageStore(stored.url)) as opened:
        yield opened
