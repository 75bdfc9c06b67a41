"""Addresses of stores as users write them."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.audit.cases import CannotAudit
from lab.audit.stores.address import ENGINES, read_address, without_password


def test_every_form_that_is_shown_is_read_as_its_engine():
    for engine in ENGINES.values():
        for form in engine.forms:
            assert read_address(form.replace("PORT", "1234")).engine is engine


READ = [
    ("chroma:", {}),
    ("chroma:here/vectors", {"folder": Path("here/vectors")}),
    ("chroma:///var/lib/chroma", {"folder": Path("/var/lib/chroma")}),
    ("CHROMA:/var", {"folder": Path("/var")}),
    ("chroma+http://host", {"url": "http://host:8000"}),
    ("chroma+https://host/t/d", {"url": "https://host:443", "path": "t/d"}),
    ("qdrant+http://[::1]", {"url": "http://[::1]:6333"}),
    ("qdrant+https://host:99/a/", {"url": "https://host:99", "path": "a"}),
    ("faiss:", {"index": "flat", "shown": "faiss:flat"}),
    ("faiss:hnsw", {"index": "hnsw"}),
    ("postgresql://u@h:1,i:2/d?a=b", {"index": "flat", "database": "postgresql://u@h:1,i:2/d?a=b"}),
    ("postgres:///d", {"index": "flat", "database": "postgresql:///d"}),
    ("postgresql+hnsw://u:hush@h:1/d?password=hush", {"index": "hnsw", "shown": "postgresql+hnsw://u@h:1/d"}),
]


@pytest.mark.parametrize(("text", "holds"), READ, ids=[text for text, _ in READ])
def test_addresses_are_read_and_shown_as_they_were_written(text, holds):
    address = read_address(text)
    expected = {"folder": None, "url": "", "path": "", "index": "", "shown": text.rstrip(":")} | holds
    assert {name: getattr(address, name) for name in expected if name in holds or "postgres" not in text} == {
        name: value for name, value in expected.items() if name in holds or "postgres" not in text
    }


WRONG = [
    ("", "is no address of a store; allowed are chroma:, chroma:FOLDER, "),
    ("chroma", "is no address of a store"),
    ("pgvector:", "is no address of a store"),
    ("postgresql:d", "is no address of a store"),
    ("http://host", "is no address of a store"),
    ("chroma://host/folder", "'chroma://host/folder' is no address of chroma; allowed are chroma:, chroma:FOLDER, "),
    ("chroma+ftp://host", "is no address of chroma"),
    ("chroma+http:", "is no address of chroma"),
    ("chroma+http://host:port", "is no address of chroma"),
    ("chroma+http://host:99999", "is no address of chroma"),
    ("chroma+http://[::1", "is no address of chroma"),
    ("chroma+http://host/tenant", "what follows the port is TENANT/DATABASE, or nothing"),
    ("chroma+http://u:hush@host", "chroma+http://u@host: a key does not belong here; put it into CHROMA_API_KEY"),
    ("qdrant+https://hush@host", "a key does not belong here; put it into QDRANT_API_KEY"),
    ("qdrant+http://host?api_key=hush", "'qdrant+http://host' is no address of qdrant"),
    ("faiss:ivf", "'faiss:ivf' is no address of faiss; allowed are faiss:flat, faiss:hnsw"),
    ("faiss+http://host", "is no address of faiss"),
    ("annoy:10", "'annoy:10' is no address of annoy; allowed are annoy:"),
    ("hnswlib:flat", "is no address of hnswlib"),
    ("postgresql+ivf://u:hush@h/d?password=hush", "'postgresql+ivf://u@h/d' is no address of pgvector; allowed are "),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text for text, _ in WRONG])
def test_what_is_no_address_is_told_with_what_is_allowed(text, said):
    with pytest.raises(CannotAudit) as raised:
        read_address(text)
    assert said in str(raised.value)
    assert "hush" not in str(raised.value).replace("//hush@", "")


@given(st.text("ab:/?#@&=%", max_size=8), st.text("ab:/?#@&=%", max_size=8))
def test_no_password_is_shown(before, after):
    secret = f"{before}hush{after}"
    for text in (f"postgresql://user:{secret}@host/d", f"postgresql://user@host/d?password={secret}"):
        assert "hush" not in without_password(text)


def test_no_library_is_imported_before_a_store_of_it_is_opened():
    program = (
        "import sys\n"
        "from lab.audit.stores.address import read_address\n"
        "from lab.audit.stores.store import open_store\n"
        "open_store(read_address('chroma:'), metric='cosine', dimension=2)\n"
        "heavy = {'annoy', 'chromadb', 'faiss', 'hnswlib', 'numpy', 'psycopg', 'qdrant_client'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
