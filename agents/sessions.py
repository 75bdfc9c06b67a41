"""What was said in each session, for a checker that asks for it, and conversations that have ended.

A message on the state topic holds the last turns of a conversation, and is stored before the answer to each record that
is one of them. The next owner of the partition restores it: a record that is delivered again has the same turns again.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeAlias

import structlog
from aiokafka.errors import KafkaError
from faust.types import TP
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.runtime import Runtime
from checkers.checker import Checker
from schemas import Generation, Origin, Turn
from streams.clients import Commit
from streams.faust_app import GroupApp, PartitionProgress
from streams.messages import Incoming, Outgoing
from streams.topic_reader import read_topic
from streams.topics import partitions_of

_MOST_SESSIONS: Final = 50_000  # That a worker keeps: producers choose names. Records of others have no turns.
SILENT_SECONDS = 1800.0  # A session without a record for so long has ended, and a later record begins another.
_ENDING_AT_ONCE: Final = 16  # Conversations that are judged at the same time.
_UNDER_WAY: Final = 32  # Later turns that may be answered before a record, which has the same turns if it comes again.

_log = structlog.get_logger(__name__)

OnEnd: TypeAlias = Callable[[Generation, Origin], Awaitable[Sequence[Outgoing] | None]]
"""From a conversation as a record, and the position of its last turn, to what is published; None: ask again later."""


class SaidTurn(BaseModel):
    """A turn, and where on the outputs topic it was said."""

    offset: int
    at: float  # When, by its message's timestamp, in seconds since 1970; not before the turn before it.
    model: str
    turn: Turn


class Conversation(BaseModel):
    """The last turns of a session that no silence divides, as a message stores them."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    group: str
    partition: int
    session: tuple[str, str, str]  # Tenant, source and session: sources and tenants have their own sessions.
    began: int  # Offset of its first turn.
    turns: list[SaidTurn] = []  # Empty once it is closed.
    stored: int = Field(-1, exclude=True)  # The offset up to which it is stored.
    storing: asyncio.Lock = Field(default_factory=asyncio.Lock, exclude=True)

    @property
    def last(self) -> SaidTurn:
        return self.turns[-1]

    def before(self, record_id: str, turns: int, offset: float = float("inf")) -> tuple[Turn, ...]:
        """So many turns at most before that of a record, which was said at the offset or before it."""
        said = [one.turn for one in self.turns if one.offset <= offset]
        place = next((place for place in reversed(range(len(said))) if said[place].record_id == record_id), 0)
        return tuple(said[max(0, place - turns) : place])

    def record(self, turns: int) -> Generation:
        """Its last turns as one response; its id is that of the session, and where it began."""
        tenant, source, session = self.session
        prompts = [f"User: {one.turn.prompt}\n" if one.turn.prompt else "" for one in self.turns]
        said = [f"{prompt}Answer: {one.turn.response}" for prompt, one in zip(prompts, self.turns, strict=True)]
        return Generation(
            kind="generation",
            id=f"{session[:200]}/{self.partition}-{self.began}",
            occurred_at=datetime.fromtimestamp(self.last.at, UTC),
            source=source,
            model=self.last.model,
            tenant=tenant or None,
            session=session,
            response="\n".join(said[-turns:]),
        )


class Sessions:
    """Those of the partitions that a group has assigned to this member."""

    def __init__(self, checker: Checker[Any], runtime: Runtime, on_end: OnEnd | None = None) -> None:
        """`on_end` is called about each conversation that has ended."""
        self._group, self._turns, self._on_end = checker.name, checker.turns, on_end
        self._settings, self._publisher = runtime.settings, runtime.publisher
        self._state_partitions = 1
        # By partition and session, and by their beginnings, the conversations that have not ended.
        self._kept: dict[tuple[int, str, str, str], dict[int, Conversation]] = {}
        self._heard_at: dict[int, float] = {}  # By partition when its last turn was said.
        self._ending = asyncio.Semaphore(_ENDING_AT_ONCE)

    async def take_over(self, committed: Mapping[TP, Commit]) -> None:
        """Restore what was said in these partitions; raises as `read_topic` and `Publisher.publish`."""
        kafka, topic = self._settings.kafka, self._settings.topics.session_state
        # There may be more partitions of the one topic than of the other.
        count = self._state_partitions = len(await partitions_of(kafka, topic))
        self._kept, self._heard_at = {}, {}
        at = {tp.partition: each for tp, each in committed.items()}
        stored: dict[bytes | None, bytes | None] = {}
        async for message in read_topic(kafka, topic, numbers={tp.partition % count for tp in committed}):
            stored[message.key] = message.value
        for value in filter(None, stored.values()):
            try:
                one = Conversation.model_validate_json(value)
            except ValidationError as error:
                _log.error("a conversation cannot be read, it is lost", detail=f"{error.error_count()} fault(s)")
                continue
            if one.group == self._group and one.partition in at:
                self._kept.setdefault((one.partition, *one.session), {})[one.began] = one
                if at[one.partition].since is None:
                    # Someone else has set the offset: what was said before it is not known.
                    await self._publisher.publish(self.close(one))

    def follow(self, incoming: Incoming, record: Generation) -> tuple[Turn, ...]:
        """The turns that a record is behind, the oldest first; it is one from now on, and stored before its answer."""
        offset, at, number = incoming.offset, incoming.sent_at, incoming.partition
        session = record.tenant or "", record.source, record.session or ""
        place = number, *session
        kept = self._kept.get(place, {})
        if incoming.recheck is not None:
            # A record of the past is no turn; while its conversation is kept, it is behind what it was behind.
            again = (kept[began].before(record.id, self._turns) for began in sorted(kept, reverse=True))
            return next((earlier for earlier in again if earlier), ())
        self._heard_at[number] = max(at, self._heard_at.get(number, 0.0))
        one = kept.get(max((began for began in kept if began <= offset), default=-1))
        if one is None or (offset > one.last.offset and at - one.last.at > SILENT_SECONDS):
            if not kept and len(self._kept) >= _MOST_SESSIONS:
                return ()
            one = Conversation(group=self._group, partition=number, session=session, began=offset)
            self._kept.setdefault(place, {})[offset] = one
            if len(self._kept) == _MOST_SESSIONS:
                _log.warning("too many sessions, new ones are not kept", most=_MOST_SESSIONS)
        recent = {each.turn.record_id for each in one.turns[-self._turns :]}
        # One that comes again is said once.
        if not one.turns or (offset > one.last.offset and record.id not in recent):
            at = max(at, one.last.at) if one.turns else at
            one.turns.append(SaidTurn(offset=offset, at=at, model=record.model, turn=record.turn))
            # One that comes twice is behind turns before its first.
            del one.turns[: -2 * self._turns - _UNDER_WAY]
        incoming.before_answer = partial(self._store, one, offset)
        return one.before(record.id, self._turns, offset)

    async def _store(self, one: Conversation, offset: int) -> None:
        """Return when it is stored up to the offset; all that wait meanwhile are stored by one message."""
        async with one.storing:
            if one.turns and one.stored < offset:
                one.stored = one.last.offset
                await self._publisher.publish(self._message(one))

    def _message(self, one: Conversation) -> Outgoing:
        """Stores it, or deletes one that is closed."""
        key = "\x1f".join((one.group, str(one.partition), *one.session, str(one.began)))
        value = one.model_dump_json().encode() if one.turns else None
        number = one.partition % self._state_partitions
        return Outgoing(self._settings.topics.session_state, key.encode(), value, [], partition=number)

    def ended(self, progress: Mapping[int, PartitionProgress], now: float) -> list[Conversation]:
        """Those that are silent, or that another one followed, if all of it is committed; `now` by Unix time."""
        # Records of a backlog were sent one after the other, whenever they are read.
        times = {n: now if at.finished >= at.end else self._heard_at.get(n, 0.0) for n, at in progress.items()}
        return [
            one
            for kept in self._kept.values()
            for one in kept.values()
            if one.partition in progress and one.last.offset < progress[one.partition].finished
            if one.began < max(kept) or one.last.at < times[one.partition] - SILENT_SECONDS
        ]

    def close(self, one: Conversation) -> Outgoing:
        """Forget one that has ended; returns the message that deletes it."""
        place = one.partition, *one.session
        kept = self._kept.get(place, {})
        kept.pop(one.began, None)
        if not kept:
            self._kept.pop(place, None)
        one.turns.clear()
        return self._message(one)

    async def run(self, app: GroupApp, take_over: Callable[[int], Awaitable[None]]) -> None:
        """Close conversations that have ended, until cancelled; `take_over` has what is assigned taken over first."""
        while True:
            await asyncio.sleep(min(5.0, SILENT_SECONDS / 20))
            if (generation := app.member_of) is None:
                continue
            try:
                await take_over(generation)
                progress = {tp.partition: at for tp, at in (await app.progress()).items()}
            except KafkaError:
                continue
            each = self.ended(progress, time.time())
            await asyncio.gather(*(self._end(one, lambda: app.member_of == generation) for one in each))

    async def _end(self, one: Conversation, is_ours: Callable[[], bool]) -> None:
        """Publish what there is to say of it, then close it: what is published before a crash is published again."""
        answer: Sequence[Outgoing] | None = ()
        if self._on_end is not None:
            last = Origin(topic=self._settings.topics.outputs, partition=one.partition, offset=one.last.offset)
            async with self._ending:
                answer = await self._on_end(one.record(self._turns), last)
        if answer is not None and is_ours():
            await self._publisher.publish(*answer)
            await self._publisher.publish(self.close(one))
