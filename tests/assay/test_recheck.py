"""`assay recheck`: outputs of the past before one checker, which no rate counts and no alert is raised on."""

import asyncio
import json
import re
from functools import partial
from pathlib import Path

from agents.routing import RoutingSettings
from schemas import Verdict
from streams.takeover import commit_starting_offsets
from streams.topic_reader import read_topic
from tests.assay.running import assay, servers
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import agents_here, checking


async def test_a_new_checker_gets_as_much_of_the_past_as_is_asked_for(prepared: Place, tmp_path: Path, site: Path):
    place = prepared
    topics, raw, names = place.checked().topics, place.settings(), ("consistency", "shouting")
    # No rule holds for what is asked for.
    rules = {"rules": [{"checkers": ["shouting"], "sources": ["old"], "share": 0}]}

    def working(*those: str):
        preparing = partial(commit_starting_offsets, place.checked(), those, names)
        routing = RoutingSettings.model_validate(rules)
        return agents_here([checking(Accept(name), routing) for name in those], raw, preparing=preparing)

    def accepts(checker: str, source: str) -> dict[str, str]:
        return {"checker": checker, "outcome": "accept", "source": source, "model": "m"}

    async def command(*arguments: str):
        given = ("recheck", "--checker", "shouting", *arguments)
        return await asyncio.to_thread(assay, *given, cwd=tmp_path, site=site, **servers(place))

    await put(place.servers, topics.outputs, [record(n, source="old") for n in range(30)] + [record(30), b"{"])
    async with working("consistency") as worker:
        await worker.wait_for(
            "assay_verdicts_total", 30, checker="consistency", outcome="accept", source="old", model="m"
        )
        early = await command("--since", "1h", "--yes")
        assert (early.returncode, "shouting has not started" in early.stderr) == (3, True)
    async with working(*names) as worker:
        await put(place.servers, topics.outputs, [record(40)])
        await worker.wait_for(
            "assay_verdicts_total", 1, checker="shouting", outcome="accept", source="tests", model="m"
        )
        nobody = await command("--since", "1h")
        assert (nobody.returncode, "give --yes" in nobody.stderr) == (2, True)
        assert "10 of 32 records drawn at random; the cost of all is estimated" in nobody.stderr
        ran = await command("--since", "1h", "--source", "old", "--sample", "0.5", "--yes")
        (sent,) = map(int, re.findall(r"^(\d+) sent", ran.stderr, re.MULTILINE))
        assert 5 <= sent <= 25
        await worker.wait_for("assay_rechecked_total", sent, checker="shouting", outcome="accept")
        assert {worker.metric("assay_verdicts_total", **accepts(name, "old")) for name in names} == {0}
    verdicts = [
        Verdict.model_validate_json(message.value)
        async for message in read_topic(place.checked().kafka, topics.accepted)
    ]
    rechecked = [one for one in verdicts if one.rechecked]
    assert {one.checker for one in rechecked} == {"shouting"}
    assert len(rechecked) == len({one.record_id for one in rechecked}) == sent
    assert sum(one.checker == "consistency" for one in verdicts) == 32
    # The trust monitor and the labels' agent read these alone.
    outcomes = [json.loads(message.value) async for message in read_topic(place.checked().kafka, topics.outcomes)]
    assert {one["verdict_id"] for one in outcomes} == {one.id for one in verdicts if not one.rechecked}
    accounts = await asyncio.to_thread(assay, "accounts", "--json", cwd=tmp_path, site=site, **servers(place))
    found = json.loads(accounts.stdout)
    assert found["missing"] == []
    totals = {
        name: sum(row["decided"] for row in found["accounts"] if row["checker"] == name) for name in found["others"]
    }
    assert (totals["consistency"], totals["shouting"]) == (32, sent + 1)
