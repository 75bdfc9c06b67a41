"""Who may open a store, and what others are told."""

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import update

from store.opening import StoreAway, StoreError, open_for_reading, open_store, sole_archivist
from store.tables import SCHEMA
from tests.support.ports import free_port
from tests.support.stored import Stored

HOLD = """
import sys
from store.opening import sole_archivist
with sole_archivist(sys.argv[1]):
    print(flush=True)
    sys.stdin.read()
"""


def test_a_store_is_opened_again_as_it_is(stored: Stored):
    before = stored.rows(SCHEMA)
    open_store(stored.url).dispose()
    assert stored.rows(SCHEMA) == before


def test_a_store_of_another_version_is_refused(stored: Stored):
    with stored.engine.begin() as connection:
        connection.execute(update(SCHEMA).values(version=9))
    with pytest.raises(StoreError, match="has tables of version 9, and this assay has those of version 3"):
        open_store(stored.url)
    with pytest.raises(StoreError, match="has tables of version 9, and this assay has those of version 3"):
        open_for_reading(stored.url)


def test_a_second_archivist_on_a_file_is_refused_until_the_first_is_killed(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/v.db"
    command = [sys.executable, "-c", HOLD, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout
        first.stdout.readline()
        with pytest.raises(StoreError, match=f"another archivist writes to {tmp_path}/v.db"), sole_archivist(url):
            pass
        first.kill()
    with sole_archivist(url):
        pass


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////nowhere/v.db", "/nowhere/v.db: unable to open database file"),
        ("sqlite:///{}/v.db", r"v\.db: .*not a database"),
        ("postgresql://u:s3cret@host:port/d", "is no address"),
    ],
)
def test_what_cannot_be_opened_is_named(tmp_path: Path, url: str, said: str):
    (tmp_path / "v.db").write_bytes(b"no database " * 1000)
    with pytest.raises(StoreError, match=said):
        open_store(url.format(tmp_path))


def test_a_database_that_does_not_answer_is_away_and_no_password_is_told():
    with pytest.raises(StoreAway, match="connection") as raised:
        open_store(f"postgresql://user:s3cret@127.0.0.1:{free_port()}/d")
    assert "s3cret" not in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'assay\[postgresql\]'"):
        open_store("postgresql://u@127.0.0.1/d")
