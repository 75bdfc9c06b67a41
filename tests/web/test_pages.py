"""What holds for every address: errors that say what is wrong, and tables and ids as they should be."""

import re
from html import unescape
from pathlib import Path

import pytest

from tests.support.page import SAMPLES, opened, text_of


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/verdicts/none", 404, "no such verdict"),
        ("/records/a/b", 404, "no verdict on this record"),
        ("/alerts/none", 404, "no such alert"),
        ("/nowhere", 404, "Not Found"),
        ("/static/../app.py", 404, "Not Found"),
        ("/verdicts?before=x", 400, "a number belongs"),
        ("/verdicts?before=9999999999999999999999", 400, "a number belongs"),
        ("/verdicts?outcome=maybe", 400, "allowed are accept, reject, abstain"),
        ("/verdicts?since=yesterday", 400, "expected a time such as"),
        (f"/verdicts?q={'x' * 300}", 400, "allowed are 256"),
        ("/?minutes=3", 400, "allowed are 15, 60, 360, 1440, 10080, 43200, 129600"),
        ("/live?after=-1", 400, "a number belongs"),
    ],
)
async def test_a_wrong_address_is_told_what_is_wrong(samples, path, status, said):
    async with opened(samples) as client:
        assert said in unescape(await text_of(client, path, status))


async def test_a_store_that_is_gone_is_told_of(empty, tmp_path: Path):
    async with opened(empty) as client:
        await text_of(client, "/")
        empty.close()
        (tmp_path / "verdicts.db").write_bytes(b"no database, " * 1000)
        assert "The store cannot be read" in await text_of(client, "/verdicts", 503)


async def test_tables_have_captions_and_heads_and_every_id_is_there_once(samples):
    paths = ["/", "/verdicts", "/alerts", *(f"/verdicts/{one['verdict']['id']}" for one in SAMPLES)]
    async with opened(samples) as client:
        for path in paths:
            html = await text_of(client, path)
            tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
            assert all("<caption>" in one and 'scope="col"' in one for one in tables), path
            ids = re.findall(r'\bid="([^"]+)"', html)
            assert len(ids) == len(set(ids)), path
            assert not set(re.findall(r'aria-describedby="([^"]+)"', html)) - set(ids), path
            assert not set(re.findall(r'href="#([^"]+)"', html)) - set(ids), path
            assert " style=" not in html
            assert "<h1" in html
