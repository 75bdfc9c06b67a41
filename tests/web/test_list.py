"""Lists of verdicts: filters, pages, downloads, versions of a series, and new ones as events."""

import asyncio
import json
import re
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.support.page import ROWS, SAMPLES, numbered, opened, shown_on, text_of
from tests.support.versions import version_rate, versions
from tests.support.waiting import PATIENCE_SECONDS

SERIES = {"source": "support-bot", "model": "acme-chat-4", "checker": "consistency"}
OF_SERIES = "/verdicts?" + urlencode(SERIES)


async def test_a_list_is_walked_by_its_links_from_the_latest_to_the_earliest(empty):
    empty.keep(numbered(120))
    seen, path = [], "/verdicts?source=support-bot"
    async with opened(empty) as client:
        while path:
            html = await text_of(client, path)
            seen += ROWS.findall(html)
            older = re.search(r'<a href="([^"]+)" rel="next"', html)
            path = unescape(older[1]) if older else ""
    assert seen == [f"ver-{number}" for number in reversed(range(120))]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("source=dedup&outcome=accept", {"par-01", "trusted"}),
        ("model=borealis-7b", {"sup-09", "trv-03"}),
        ("checker=longtail", {"pro-02"}),
        ("q=Thursday", set()),
        ("q=lamp+45", {"sup-02"}),
        ("since=2100-01-01T00:00", set()),
        ("until=2000-01-01", set()),
        ("source=dedup&outcome=accept&minutes=129600&until=2026-11-25", {"par-01", "trusted"}),
    ],
)
async def test_filters_live_in_the_address(samples, query, found):
    async with opened(samples) as client:
        html = await text_of(client, f"/verdicts?{query}")
    ids = {one["verdict"]["id"]: one["verdict"]["record_id"] for one in SAMPLES}
    assert {ids[one] for one in ROWS.findall(html)} == found
    for name, value in (part.split("=") for part in query.split("&")):
        chosen = rf'name="{name}"[^>]*value="{value.replace("+", " ")}"|<option value="{value}" selected>'
        assert re.search(chosen, html), (name, value)


async def test_a_list_is_a_download_with_the_same_filters(samples):
    async with opened(samples) as client:
        listed = ROWS.findall(await text_of(client, "/verdicts?outcome=reject"))
        document = await (await client.get("/verdicts.json?outcome=reject")).json()
        lines = (await (await client.get("/verdicts.csv?outcome=reject")).text()).splitlines()
        assert (await client.get("/verdicts.json?outcome=perhaps")).status == 400
    assert [one["id"] for one in document["verdicts"]] == listed
    assert document["earlier"] is None
    assert [line.partition(",")[0] for line in lines] == ["id", *listed]


async def test_a_download_goes_on_and_a_spreadsheet_computes_nothing_of_it(empty):
    empty.keep(one | {"id": f"n{n}", "reason": "=HYPERLINK(1)"} for n, one in enumerate(numbered(501)))
    async with opened(empty) as client:
        first = await client.get("/verdicts.csv")
        assert "'=HYPERLINK(1)" in await first.text()
        earlier = re.search(r"<(.+)>; rel=\"next\"", first.headers["Link"])[1]
        assert len((await (await client.get(earlier)).text()).splitlines()) == 2


def _versions(*, kinds=({"generation": 400}, {"generation": 200}), good=(None, None)):
    first = version_rate("4.1", 400, 360, kind=kinds[0], good=good[0])
    last = version_rate("4.2 <b>", 200, 150, day=1, kind=kinds[1], good=good[1])
    return versions(last, first, **SERIES)


async def test_a_series_shows_its_versions_and_whether_the_latest_is_worse(samples):
    samples.keep_message(_versions())
    async with opened(samples) as client:
        html, shown = await text_of(client, OF_SERIES), await shown_on(client, OF_SERIES)
        assert "Versions" not in await shown_on(client, "/verdicts?source=support-bot")
    assert "−15.0 points from 4.1 to 4.2 <b>, between −25.5 and −4.5." in shown
    assert "4.2 &lt;b&gt;" in html
    assert "The traffic differs" not in shown
    assert "4.1 2026-03-02 00:00:00 400 90% 0 – – –" in shown


async def test_other_traffic_is_said_and_peoples_labels_correct_the_difference(samples):
    samples.keep_message(_versions(kinds=({"generation": 400}, {"generation": 100, "probe": 100}), good=(51, 50)))
    async with opened(samples) as client:
        shown = await shown_on(client, OF_SERIES)
    assert "The traffic differs (kind): the difference may come from there." in shown
    assert "by people’s labels. Neither is proved to be better." in shown


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


async def test_too_many_listeners_are_sent_away(empty, monkeypatch):
    monkeypatch.setattr("web.app._LISTENERS", 1)
    async with opened(empty) as client, client.get("/live") as first:
        assert first.status == 200
        assert (await client.get("/live")).status == 503
