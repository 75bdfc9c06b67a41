"""Sessions on the stream: each record comes behind what was said before it, whatever is killed."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from agents.checker_agent import CheckerAgent
from agents.runtime import Runtime
from agents.sessions import Conversation, Sessions
from schemas import CriterionEvidence, Generation, Verdict, read_record
from streams.admission import Slot, Slots
from streams.clients import Commit
from streams.faust_app import PartitionProgress
from streams.messages import RECHECK, Incoming, Outgoing, Publisher, record_message
from streams.metrics import StreamMetrics
from streams.settings import StreamSettings, TopicSettings
from tests.checkers.criteria.setting import BROKEN, KEPT, WORDS, by_word, criterion
from tests.support.checkers import Recalls
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import committed, first_verdicts, messages_until, put, record
from tests.support.waiting import until
from tests.support.workers import agents_here

TOPIC = TopicSettings().outputs
SILENT, TURNS = 60.0, 3


@pytest.fixture(scope="module", autouse=True)
def silent_for_a_minute() -> Iterator[None]:
    with patch("agents.sessions.SILENT_SECONDS", SILENT):
        yield


NOW = 1_800_000_000


class _Publisher(Publisher):
    def __init__(self, keep: Callable[..., None]) -> None:
        self._keep = keep

    async def publish(self, *messages: Outgoing) -> None:
        self._keep(*messages)


@dataclass
class Message:
    offset: int
    value: bytes
    seconds: float = 0.0
    headers: Sequence[tuple[str, bytes]] = ()


class Run:
    """A partition's owners, one after the other, and what the state topic holds."""

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self.settings = StreamSettings()
        self.messages = messages
        self.stored: dict[bytes, bytes] = {}
        self.take_over(0)

    def take_over(self, committed: int, since: float | None = 0.0) -> None:
        metrics = StreamMetrics(CollectorRegistry(), max_subjects=10)
        runtime = Runtime(settings=self.settings, publisher=_Publisher(self._keep), metrics=metrics, fail=print)
        self.sessions = Sessions(Recalls(), runtime)
        with patch("agents.sessions.partitions_of", self._partitions), patch("agents.sessions.read_topic", self._read):
            asyncio.run(self.sessions.take_over({TP(TOPIC, 0): Commit(committed, since)}))

    async def _partitions(self, *_: Any) -> list[int]:
        return [0]

    async def _read(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        for key, value in list(self.stored.items()):
            yield SimpleNamespace(key=key, value=value)

    def follow(self, message: Message, *, answered: bool = True) -> list[str]:
        """The turns that a message is behind; what it changes is stored if it is answered."""
        incoming = Incoming(
            TOPIC, 0, message.offset, None, None, Slot(Slots(1)), message.headers, NOW + message.seconds
        )
        record = read_record(message.value, max_bytes=100_000)
        assert isinstance(record, Generation)
        earlier = self.sessions.follow(incoming, record)
        if answered and incoming.before_answer is not None:
            asyncio.run(incoming.before_answer())
        return [turn.record_id for turn in earlier]

    def ended(self, committed: int, seconds: float) -> list[Conversation]:
        return self.sessions.ended({0: PartitionProgress(committed, committed)}, NOW + seconds)

    def close(self, one: Conversation) -> None:
        self._keep(self.sessions.close(one))

    def _keep(self, *messages: Outgoing) -> None:
        for message in messages:
            assert message.key is not None
            self.stored.pop(message.key, None)
            self.stored |= {message.key: message.value} if message.value else {}


SAID = st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.sampled_from([0, 1, 30, 61, 100]))
"""A session, a record's number, and the seconds since the message before."""


def _messages(said: Iterable[tuple[str, int, float]]) -> list[Message]:
    messages, seconds = list[Message](), 0.0
    for offset, (session, number, after) in enumerate(said):
        seconds += after
        messages.append(Message(offset, record(number, session=session), seconds))
    return messages


@given(st.lists(SAID, max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4), st.data())
def test_whoever_takes_over_each_record_has_the_same_turns_and_each_conversation_ends_once(said, steps, data):
    messages = _messages(said)
    alone, run = Run(messages), Run(messages)
    expected = [alone.follow(message) for message in messages]
    concluded: dict[str, set[str]] = {}

    def go_on(begin: int, end: int, mark: int, seconds: float) -> None:
        for message in messages[begin:end]:
            # What is committed is answered, and of the others some.
            answered = message.offset < mark or data.draw(st.booleans())
            assert run.follow(message, answered=answered) == expected[message.offset]
        for one in run.ended(mark, seconds):
            concluded.setdefault(one.record(TURNS).id, set()).add(one.record(TURNS).response)
            # A crash may come between the two.
            if data.draw(st.booleans()):
                run.close(one)

    committed = 0
    for ahead, done in steps:
        end, mark = min(len(messages), committed + ahead), min(len(messages), committed + ahead, committed + done)
        go_on(committed, end, mark, messages[mark - 1].seconds if mark else 0)
        committed = mark
        run.take_over(committed)
    go_on(committed, len(messages), len(messages), 10_000)
    assert concluded == {id_: {response} for id_, response in _conversations(messages).items()}


def test_of_a_long_conversation_the_last_turns_are_kept():
    run = Run(_messages([("a", number, 1) for number in range(200)]))
    for message in run.messages:
        run.follow(message)
    (stored,) = run.stored.values()
    assert len(json.loads(stored)["turns"]) < 50
    run.take_over(170)
    assert run.follow(run.messages[170]) == ["r167", "r168", "r169"]
    assert run.follow(Message(200, record(200, session="a"), 201)) == ["r197", "r198", "r199"]


def test_offsets_that_are_set_back_begin_with_nothing_said_and_are_stored_again():
    run = Run(_messages([("a", number, 1) for number in range(8)]))
    for message in run.messages:
        run.follow(message)
    for _ in range(2):
        run.take_over(3, since=None)
        assert run.stored == {}
        assert run.follow(run.messages[3]) == []
        assert run.follow(run.messages[4]) == ["r3"]
    run.take_over(5)
    assert run.follow(run.messages[5]) == ["r3", "r4"]


def test_a_turn_is_said_once_and_a_record_that_comes_again_is_behind_the_same_ones():
    run = Run(_messages([("a", 1, 0), ("a", 2, 1), ("b", 9, 1), ("a", 3, 1), ("a", 2, 1), ("a", 4, 1), ("a", 5, 1)]))
    found = [run.follow(message) for message in run.messages]
    assert found == [[], ["r1"], [], ["r1", "r2"], ["r1"], ["r1", "r2", "r3"], ["r2", "r3", "r4"]]


def test_a_silence_ends_a_session_and_its_state_is_forgotten():
    run = Run(_messages([("a", 1, 0), ("a", 2, 59), ("a", 3, 61), ("a", 4, 1)]))
    assert [run.follow(message) for message in run.messages] == [[], ["r1"], [], ["r3"]]
    for seconds, left in ((122 + 59, 1), (122 + 61, 0)):
        for one in run.ended(4, seconds):
            run.close(one)
        assert len(run.stored) == left


def test_a_backlog_is_silent_by_its_own_time():
    run = Run(_messages([("a", 1, 0), ("b", 2, 61), ("a", 3, 1)]))
    assert run.follow(run.messages[0]) == []
    assert run.sessions.ended({0: PartitionProgress(3, 1)}, NOW + 1000) == []
    assert [run.follow(message) for message in run.messages[1:]] == [[], []]
    assert [one.session for one in run.sessions.ended({0: PartitionProgress(4, 3)}, NOW + 1000)] == [("", "tests", "a")]


def test_a_record_of_the_past_is_no_turn():
    again = Message(2, record(1, session="a"), 2, [(RECHECK, b"recalls")])
    unknown = Message(3, record(7, session="a"), 3, [(RECHECK, b"recalls")])
    later = Message(4, record(8, session="a"), 4)
    run = Run([*_messages([("a", 0, 0), ("a", 1, 1)]), again, unknown, later])
    assert [run.follow(message) for message in run.messages] == [[], ["r0"], ["r0"], [], ["r0", "r1"]]


def _conversations(messages: Sequence[Message]) -> dict[str, str]:
    """By id, what each conversation is concluded from."""
    spoken: dict[str, list[tuple[int, float, list[str]]]] = {}
    for message in messages:
        told = json.loads(message.value)
        each = spoken.setdefault(told["session"], [])
        if not each or message.seconds - each[-1][1] > SILENT:
            each.append((message.offset, message.seconds, []))
        began, last, texts = each[-1]
        line = f"Answer: {told['response']}"
        if line not in texts[-TURNS:]:
            texts.append(line)
            last = message.seconds
        each[-1] = began, last, texts
    return {
        f"{session}/0-{began}": "\n".join(texts[-TURNS:])
        for session, each in spoken.items()
        for began, _, texts in each
    }


RECALLS = {"type": "recalls", "seconds": 0.05, "answers": True}
RECORDS, SESSIONS = 400, 7


def test_no_turn_is_lost_or_doubled_by_kills(place: Place):
    rng, raw = random.Random(3), place.settings(concurrency=8, instance_id="only")
    settings = place.prepare(raw)
    # Some are sent twice, as by a producer that retries.
    numbers = [number for number in range(RECORDS) for _ in range(1 + (number % 10 == 0))]
    asyncio.run(put(place.servers, settings.topics.outputs, map(_said, numbers)))
    for _ in range(5):
        with place.worker([RECALLS], raw) as worker:
            worker.wait_ready()
            time.sleep(rng.uniform(0, 0.9))
            worker.kill()
    with place.worker([RECALLS], raw):
        said = asyncio.run(_reasons(place))
    # A record that came twice has several verdicts, which say the same.
    assert said == {f"r{number}": {_expected(number)} for number in range(RECORDS)}


async def test_sessions_go_on_where_partitions_go_to_other_workers(place: Place):
    raw, settings = await place.ready(partitions=3, concurrency=4)
    records = (read_record(_said(number), max_bytes=9999) for number in range(RECORDS))
    sent = [record_message(each, settings.topics) for each in records]
    async with Publisher(settings).running() as publisher:
        with place.worker([RECALLS], raw, "first") as first:
            await publisher.publish(*sent[: RECORDS // 2])
            await asyncio.to_thread(first.wait_ready)
            await asyncio.to_thread(first.wait_for, "assay_verdicts_total", RECORDS / 8)
            with place.worker([RECALLS], raw, "second") as second:
                await asyncio.to_thread(second.wait_ready)
                await publisher.publish(*sent[RECORDS // 2 :])
                await asyncio.to_thread(second.wait_for, "assay_verdicts_total", 1)
                assert await asyncio.to_thread(first.terminate) == 0
                said = await _reasons(place)
    assert said == {f"r{number}": {_expected(number)} for number in range(RECORDS)}


def _said(number: int) -> bytes:
    return record(number, session=f"s{number % SESSIONS}")


def _expected(number: int) -> str:
    earlier = [f"r{each}" for each in range(number - TURNS * SESSIONS, number, SESSIONS) if each >= 0]
    return " ".join(earlier) or "none"


async def _reasons(place: Place) -> dict[str, set[str]]:
    said: dict[str, set[str]] = {}
    topics = [place.checked().topics.accepted]
    async for message in messages_until(place.servers, topics, lambda: len(said) == RECORDS, settle=0.5):
        verdict = Verdict.model_validate_json(message.value)
        said.setdefault(verdict.record_id, set()).add(verdict.reason)
    return said


async def test_a_conversation_has_one_verdict_after_its_end_whatever_is_killed(place: Place, tmp_path: Path):
    raw = place.settings(concurrency=8, instance_id="only")
    settings, away = await asyncio.to_thread(place.prepare, raw), tmp_path / "away"
    await asyncio.to_thread(away.touch)
    concludes = {"type": "concludes", "answers": True, "away": str(away), "silent_seconds": 3.0}
    values = [*map(_said, range(3 * SESSIONS)), record(999)]
    await put(place.servers, settings.topics.outputs, values)
    for name in ("first", "second"):
        with place.worker([concludes], raw, name) as worker:
            await asyncio.to_thread(worker.wait_ready)
            # All are committed, and every conversation is over: its judge is away.
            await until(lambda: _committed(place, len(values)))
            worker.kill()
    await asyncio.to_thread(away.unlink)
    with place.worker([concludes], raw, "last"):
        said: dict[str, str] = {}
        topics = [settings.topics.accepted]
        async for message in messages_until(place.servers, topics, lambda: len(said) == SESSIONS, settle=1):
            verdict = Verdict.model_validate_json(message.value)
            assert verdict.record_id not in said
            said[verdict.record_id] = verdict.reason
    assert said == {
        f"s{one}/0-{one}": "\n".join(f"Answer: Response {number}." for number in range(one, 3 * SESSIONS, SESSIONS))
        for one in range(SESSIONS)
    }


async def _committed(place: Place, count: int) -> bool:
    return await committed(place.servers, f"{place.prefix}.concludes", place.checked().topics.outputs) == count


async def test_a_criterion_is_asked_once_about_each_conversation(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agents.sessions.SILENT_SECONDS", 1.2)
    raw = place.settings()
    settings = await asyncio.to_thread(place.prepare, raw)
    told = [("a", KEPT), ("b", KEPT), ("a", BROKEN), ("b", KEPT)]
    values = [record(n, session=session, prompt="Well?", response=text) for n, (session, text) in enumerate(told)]
    await put(place.servers, settings.topics.outputs, values)
    with StubEndpoint(answer=by_word) as stub:
        agent = partial(CheckerAgent, criterion(stub, unit="conversation"))
        async with agents_here([agent], raw) as worker:
            (accepted,) = await first_verdicts(place.servers, settings.topics.accepted, 1)
            (rejected,) = await first_verdicts(place.servers, settings.topics.rejected, 1)
            assert worker.metric("assay_checker_records_total", checker="no_refunds", kind="generation") == 2
    assert (accepted.record_id, rejected.record_id) == ("b/0-1", "a/0-0")
    assert rejected.origin is not None
    assert rejected.origin.offset == 2
    assert isinstance(rejected.evidence, CriterionEvidence)
    assert rejected.evidence.quote == WORDS
    assert f"User: Well?\nAnswer: {KEPT}\nUser: Well?\nAnswer: {BROKEN}" in [
        one.quotes.get("Answer") for one in stub.requests
    ]
