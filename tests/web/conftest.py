from pathlib import Path

import pytest

from tests.support.page import PageStore


@pytest.fixture
def empty(tmp_path: Path):
    store = PageStore(f"sqlite:///{tmp_path / 'verdicts.db'}")
    yield store
    store.close()


@pytest.fixture
def samples(empty: PageStore) -> PageStore:
    """A store with a verdict of each kind and its record."""
    empty.keep_samples()
    return empty
