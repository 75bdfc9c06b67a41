from pathlib import Path

import pytest

from tests.support.page import SAMPLES, PageStore


@pytest.fixture
def empty(tmp_path: Path):
    store = PageStore(tmp_path / "verdicts.db")
    yield store
    store.reader.close()


@pytest.fixture
def samples(empty: PageStore) -> PageStore:
    """A store with a verdict of each kind and its record."""
    empty.keep(one["verdict"] for one in SAMPLES)
    for one in SAMPLES:
        empty.keep_record(one["record"])
    return empty
