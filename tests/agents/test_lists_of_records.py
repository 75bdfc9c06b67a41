"""A worker takes records in lists, and promises of each record what it promises."""

import asyncio
import json

from tests.support.checkers import RejectsNo, Sleep
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_of, put, record
from tests.support.workers import worker_here


async def test_rebalances_in_the_middle_of_long_lists_lose_and_repeat_nothing(place: Place):
    raw, settings = await place.ready(partitions=4, concurrency=8)
    # Fetched together, they are a list for each partition; the flow stops within one and between two.
    await put(place.servers, settings.topics.outputs, map(record, range(1500)), spread=True)
    labels = {"checker": "sleep", "outcome": "accept", "source": "tests", "model": "m"}
    async with worker_here([Sleep(0.02)], raw) as first:
        await first.wait_for("assay_verdicts_total", 200, **labels)
        async with worker_here([Sleep(0.02)], raw) as second:
            await second.wait_for("assay_verdicts_total", 50, **labels)
        seen = await collect(place.servers, settings.topics, records=1500, settle=0.5)
    assert len(seen.verdicts) == 1500
    assert seen.repeats == 0
    assert await committed(place.servers, f"{place.prefix}.sleep", settings.topics.outputs) == 1500


async def test_a_backlog_of_large_records_takes_little_memory_however_well_it_is_compressed(place: Place):
    raw, settings = await place.ready(concurrency=2, records={"max_bytes": 2_000_000})
    with place.worker([{"type": "sleep", "seconds": 0.05}], raw) as worker:
        await asyncio.to_thread(worker.wait_ready)
        before = worker.resident_bytes
        # A broker hands out a megabyte of them at once, which are hundreds of megabytes here.
        large = [record(number, reference="a word " * 142_000) for number in range(150)]
        await put(place.servers, settings.topics.outputs, large, compression="gzip")
        del large
        most = before
        while worker.metric('assay_checker_records_total{checker="sleep",kind="generation"}') < 150:
            most = max(most, worker.resident_bytes)
            await asyncio.sleep(0.05)
        seen = await collect(place.servers, settings.topics, records=150)
    assert len(seen.verdicts) == 150
    assert most - before < 60_000_000


async def test_outcomes_are_in_the_order_of_the_verdicts_whichever_topics_those_are_on(place: Place):
    raw, settings = await place.ready()
    answers = [record(number, response="no" if number % 3 == 0 else "yes") for number in range(302)]
    await put(place.servers, settings.topics.outputs, answers[:2])
    async with worker_here([RejectsNo()], raw):
        # The first ones wait for what the producer must know of their topics, each for itself.
        await first_of(place.servers, settings.topics.outcomes, 2)
        await put(place.servers, settings.topics.outputs, answers[2:])
        outcomes = await first_of(place.servers, settings.topics.outcomes, 302)
    assert [json.loads(outcome)["record_id"] for outcome in outcomes[2:]] == [f"r{number}" for number in range(2, 302)]
