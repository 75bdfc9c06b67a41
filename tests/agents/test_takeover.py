"""Workers that take partitions over, join, or start with a new checker: nothing is lost, nothing answered again."""

import asyncio
import json
import signal
import time
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

from faust.types import TP

from agents.checker_agent import missing_outcome
from agents.monitor.outcomes import SeriesOutcome
from streams.admission import Slot, Slots
from streams.clients import Commit
from streams.messages import Incoming, Publisher, marked_as_answer, verdict_message
from streams.takeover import Takeover, commit_starting_offsets
from tests.support.checkers import Accept, RejectsNo, Sleep
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_of, first_verdicts, put, record
from tests.support.workers import WorkerHere, WorkerProcess, worker_here

BEHIND = 30
WAITING = [{"type": "waiting", "answers": True}]


async def _answered_beyond_the_first(place: Place, slow: Path, raw: dict[str, Any]) -> WorkerProcess:
    """A worker that has answered all but the first record, which waits for a file to go."""
    settings = await asyncio.to_thread(place.prepare, raw)
    await asyncio.to_thread(slow.touch)
    first = record(0, response=str(slow))
    await put(place.servers, settings.topics.outputs, [first, *map(record, range(1, BEHIND)), b"{"])
    worker = place.worker(WAITING, raw, "first")
    await collect(place.servers, settings.topics, records=BEHIND - 1, letters=1)
    await first_of(place.servers, settings.topics.outcomes, BEHIND - 1)
    return worker


async def test_what_a_killed_worker_has_answered_is_not_answered_again(place: Place, tmp_path: Path):
    slow, raw = tmp_path / "slow", place.settings(session_seconds=2)
    topics = place.checked().topics
    worker = await _answered_beyond_the_first(place, slow, raw)
    worker.kill()
    await asyncio.to_thread(slow.unlink)
    with place.worker(WAITING, raw, "second") as second:
        await asyncio.to_thread(second.wait_for_log, f'"answered":{BEHIND}')
        await put(place.servers, topics.outputs, [record(BEHIND)])
        seen = await collect(place.servers, topics, records=BEHIND + 1, letters=1, settle=0.5)
    assert set(seen.verdicts.values()) == {1}
    assert seen.letter_messages == 1
    outcomes = [
        SeriesOutcome.model_validate_json(each) for each in await first_of(place.servers, topics.outcomes, BEHIND + 1)
    ]
    assert len({each.verdict_id for each in outcomes}) == BEHIND + 1


async def test_a_process_that_was_stopped_sends_nothing_once_its_partitions_are_anothers(place: Place, tmp_path: Path):
    slow, raw = tmp_path / "slow", place.settings(session_seconds=2)
    topics = place.checked().topics
    with await _answered_beyond_the_first(place, slow, raw) as stopped:
        stopped.signal(signal.SIGSTOP)
        with place.worker(WAITING, raw, "second") as second:
            await asyncio.to_thread(second.wait_ready)
            await asyncio.to_thread(
                second.wait_for, 'assay_checker_records_total{checker="waiting",kind="generation"}', 1
            )
            # Both have the first record now, and both could answer it.
            await asyncio.to_thread(slow.unlink)
            await collect(place.servers, topics, records=BEHIND)
            stopped.signal(signal.SIGCONT)
            await asyncio.to_thread(stopped.wait_for, "assay_records_given_back_total", 1)
            await put(place.servers, topics.outputs, [record(BEHIND)])
            seen = await collect(place.servers, topics, records=BEHIND + 1, letters=1, settle=0.5)
    assert set(seen.verdicts.values()) == {1}
    assert seen.letter_messages == 1


async def test_an_answer_without_what_follows_it_is_followed_up(prepared: Place):
    settings = prepared.checked()
    topics = settings.topics
    await put(prepared.servers, topics.outputs, [record(0)])
    async with worker_here([Accept()], prepared.settings()):
        (verdict,) = await first_verdicts(prepared.servers, topics.accepted, 1)
    takeover = Takeover(
        "accept",
        topics.outputs,
        [topics.accepted, topics.dead_letter],
        settings,
        follows=topics.outcomes,
        follow_up=lambda answer, at: missing_outcome(topics, answer, at),
    )
    noted = {TP(topics.outputs, 0): Commit(0, time.time() - 60)}
    assert await takeover.read(noted) == {(TP(topics.outputs, 0), 0): None}
    publisher = Publisher(settings)
    await publisher.start()
    # As a worker leaves it that is killed between the verdict and its outcome.
    incoming = Incoming(topics.outputs, 0, 1, None, b"", Slot(Slots(1)))
    await publisher.publish(marked_as_answer(verdict_message(verdict, topics), "accept", incoming))
    await publisher.stop()
    found = await takeover.read(noted)
    follow_up = found[TP(topics.outputs, 0), 1]
    assert follow_up is not None
    assert SeriesOutcome.model_validate_json(follow_up.value).verdict_id == verdict.id
    # Somebody who sets the offset back wants the records to be checked again.
    assert await takeover.read({TP(topics.outputs, 0): Commit(0, None)}) == {}
    assert await takeover.read({TP(topics.outputs, 0): Commit(2, time.time())}) == {}


def running(place: Place, *names: str, deployment: tuple[str, ...] = ()) -> AbstractAsyncContextManager[WorkerHere]:
    """A worker with these checkers, of a deployment that has others besides."""
    settings = place.checked(partitions=2)
    preparing = partial(commit_starting_offsets, settings, deployment or names, ["first", "second", "third"])
    return worker_here([Accept(name) for name in names], place.settings(partitions=2), preparing=preparing)


async def sent(place: Place, count: int, first: int = 0) -> None:
    topic = place.checked().topics.outputs
    await put(place.servers, topic, [record(number) for number in range(first, first + count)], spread=True)


async def test_the_first_start_checks_what_is_there_and_an_added_checker_what_comes(place: Place):
    await asyncio.to_thread(place.prepare, place.settings(partitions=2))
    await sent(place, 20)
    topics = place.checked().topics
    # Several workers start at once, each with another checker.
    async with (
        running(place, "first", deployment=("first", "second")) as one,
        running(place, "second", deployment=("first", "second")) as two,
    ):
        await collect(place.servers, topics, records=20)
        await one.wait_for("assay_verdicts_total", 20, checker="first", outcome="accept", source="tests", model="m")
        await two.wait_for("assay_verdicts_total", 20, checker="second", outcome="accept", source="tests", model="m")
    async with running(place, "first", "third") as both:
        await sent(place, 5, first=20)
        await both.wait_for("assay_verdicts_total", 5, checker="third", outcome="accept", source="tests", model="m")
        await both.wait_for("assay_verdicts_total", 5, checker="first", outcome="accept", source="tests", model="m")
        await asyncio.sleep(0.3)
        of = {"outcome": "accept", "source": "tests", "model": "m"}
        assert [both.metric("assay_verdicts_total", checker=name, **of) for name in ("first", "third")] == [5, 5]
    async with running(place, "first", "third") as again:
        await sent(place, 1, first=25)
        await again.wait_for("assay_verdicts_total", 1, checker="third", outcome="accept", source="tests", model="m")


async def test_a_first_start_that_was_broken_off_is_still_the_first(place: Place):
    await asyncio.to_thread(place.prepare, place.settings(partitions=2))
    await sent(place, 10)
    # Killed after the first of its commits.
    await commit_starting_offsets(place.checked(partitions=2), ["first"], ["first", "second"])
    async with running(place, "first", "second") as worker:
        for name in ("first", "second"):
            await worker.wait_for("assay_verdicts_total", 10, checker=name, outcome="accept", source="tests", model="m")


async def test_rebalances_in_the_middle_of_long_lists_lose_and_repeat_nothing(place: Place):
    raw, settings = await place.ready(partitions=4, concurrency=8)
    # Fetched together, they are a list for each partition; the flow stops within one and between two.
    await put(place.servers, settings.topics.outputs, map(record, range(1500)), spread=True)
    labels = {"checker": "sleep", "outcome": "accept", "source": "tests", "model": "m"}
    checker = Sleep(0.1)
    async with worker_here([checker], raw) as first:
        await first.wait_for("assay_verdicts_total", 50, **labels)
        async with worker_here([Sleep(0.02)], raw) as second:
            await second.wait_for("assay_verdicts_total", 50, **labels)
            # It was slow, so that something is left when the second has joined, however long that takes.
            checker.seconds = 0.02
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
        seen = await collect(place.servers, settings.topics, records=150)
        most = worker.most_bytes
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
        outcomes = [json.loads(each) for each in await first_of(place.servers, settings.topics.outcomes, 302)]
    assert [outcome["record_id"] for outcome in outcomes[2:]] == [f"r{number}" for number in range(2, 302)]
    # And alerts name the verdict's position.
    rejected = [each["rejected"]["verdict_origin"]["offset"] for each in outcomes if each["rejected"]]
    assert rejected == list(range(len(rejected))) != []
