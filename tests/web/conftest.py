from pathlib import Path

import orjson
import pytest

from schemas import read_record
from tests.support.page import SAMPLES, PageStore


@pytest.fixture
def empty(tmp_path: Path):
    store = PageStore(f"sqlite:///{tmp_path / 'verdicts.db'}")
    yield store
    store.close()


@pytest.fixture
def samples(empty: PageStore) -> PageStore:
    """A store with a verdict of each kind and its record."""
    empty.keep(one["verdict"] for one in SAMPLES)
    records = [orjson.dumps(one["record"]) for one in SAMPLES]
    empty.keep_message(*(read_record(one, max_bytes=len(one)) for one in records))
    return empty
