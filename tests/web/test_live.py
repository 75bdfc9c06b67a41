"""New verdicts as events: in their order, each once, and none missed where the connection broke."""

import asyncio
import json
import re

from tests.support.page import numbered, opened
from tests.support.waiting import PATIENCE_SECONDS


async def _events(client, path, count, **headers):
    """The first events of a stream, as id, event and data."""
    found = []
    async with asyncio.timeout(PATIENCE_SECONDS), client.get(path, headers=headers) as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        fields = {}
        async for line in answer.content:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif fields.get("data"):
                found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
                fields = {}
            if len(found) == count:
                return found
    raise AssertionError("the stream ended")


def _id(row: str) -> str:
    return re.search(r'href="/verdicts/([^"]+)"', row)[1]


async def test_rows_come_in_their_order_with_their_numbers(empty):
    empty.keep(numbered(4))
    async with opened(empty) as client:
        events = await _events(client, "/live?after=1", 3)
        html = await (await client.get("/verdicts")).text()
    assert [(seq, event, _id(row)) for seq, event, row in events] == [
        (2, "verdict", "ver-1"),
        (3, "verdict", "ver-2"),
        (4, "verdict", "ver-3"),
    ]
    assert all(row in html for _, _, row in events)


async def test_a_broken_connection_goes_on_behind_its_last_event(empty):
    empty.keep(numbered(8))
    async with opened(empty) as client:
        first = await _events(client, "/live?after=0", 3)
        second = await _events(client, "/live?after=0", 5, **{"Last-Event-ID": str(first[-1][0])})
    assert [_id(row) for _, _, row in (*first, *second)] == [f"ver-{n}" for n in range(8)]


async def test_more_than_ten_at_once_are_told_as_a_number(empty):
    empty.keep(numbered(47))
    async with opened(empty) as client:
        events = await _events(client, "/live", 11)
    assert [event for _, event, _ in events] == ["verdict"] * 10 + ["more"]
    assert events[-1] == (47, "more", 37)


async def test_what_comes_while_it_is_open_is_told(empty):
    empty.keep(numbered(1))
    async with opened(empty) as client, client.get("/live?after=1") as answer:
        line = await answer.content.readline()
        assert line == b": nothing new\n"
        empty.keep([numbered(1)[0] | {"id": "ver-late"}])
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not line.startswith(b"data: "):
                line = await answer.content.readline()
    assert _id(json.loads(line.removeprefix(b"data: "))) == "ver-late"


async def test_only_what_the_filters_let_through_is_told(empty):
    verdicts = numbered(6)
    for one in verdicts[::2]:
        one["source"] = "other"
    empty.keep(verdicts)
    async with opened(empty) as client:
        events = await _events(client, "/live?source=other", 3)
    assert [_id(row) for _, _, row in events] == ["ver-0", "ver-2", "ver-4"]


async def test_too_many_listeners_are_sent_away(empty, monkeypatch):
    monkeypatch.setattr("web.app._LISTENERS", 1)
    async with opened(empty) as client, client.get("/live") as first:
        assert first.status == 200
        assert (await client.get("/live")).status == 503
