"""A worker that takes partitions over answers nothing again that was answered before it."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

from faust.types import TP

from agents.monitor.outcomes import SeriesOutcome, missing_outcome
from streams.admission import Slot, Slots
from streams.messages import Incoming, verdict_message
from streams.publisher import Publisher
from streams.takeover import Committed, Takeover
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, first_of, first_verdicts, put, record
from tests.support.workers import WorkerProcess, worker_here

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
    slow, raw = tmp_path / "slow", place.settings(session_timeout_seconds=2)
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
    slow, raw = tmp_path / "slow", place.settings(session_timeout_seconds=2)
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
    noted = {TP(topics.outputs, 0): Committed(0, time.time() - 60)}
    assert await takeover.read(noted) == {(TP(topics.outputs, 0), 0): None}
    publisher = Publisher(settings)
    await publisher.start()
    # As a worker leaves it that is killed between the verdict and its outcome.
    incoming = Incoming(topics.outputs, 0, 1, None, b"", Slot(Slots(1)))
    await publisher.publish(takeover.mark(verdict_message(verdict, topics), incoming))
    await publisher.stop()
    found = await takeover.read(noted)
    follow_up = found[TP(topics.outputs, 0), 1]
    assert follow_up is not None
    assert SeriesOutcome.model_validate_json(follow_up.value).verdict_id == verdict.id
    # Somebody who sets the offset back wants the records to be checked again.
    assert await takeover.read({TP(topics.outputs, 0): Committed(0, None)}) == {}
    assert await takeover.read({TP(topics.outputs, 0): Committed(2, time.time())}) == {}
