"""What was said in each session, for a checker that asks for it: kept by partition, and restored on a takeover.

The outputs topic is the log, and the state topic a snapshot of what was said up to a mark in each partition, which is
never beyond what the group has committed. The next owner of a partition restores the snapshot, reads the log from the
mark to the committed offset, and has what its predecessor had there: a record that is delivered again is behind the
same turns again, and none is said twice.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from faust.types import TP
from pydantic import BaseModel, ConfigDict, Field

from agents.partition_state import Entry, Key, PartitionState, encoded, stored_messages
from agents.runtime import Runtime
from checkers.sessions import before, session_of
from schemas import Generation, Origin, Turn, Unreadable, read_record
from streams.faust_app import GroupApp
from streams.messages import Outgoing, recheck_of
from streams.takeover import Committed
from streams.topic_reader import read_between
from streams.topics import partitions_of

_MOST_SESSIONS: Final = 50_000
"""Divided over the partitions: producers choose names, so memory needs a limit. Records of others have no turns."""

_ENDING_AT_ONCE: Final = 16
"""Conversations that are judged at the same time."""

FLUSH_SECONDS: Final = 5.0
"""Between snapshots: what was said since is read again after a crash."""


class SaidTurn(BaseModel):
    """A turn, and where on the outputs topic it was said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    offset: int
    at: float
    """When, by its message's timestamp, in seconds since 1970; not before the turn before it."""
    began: int
    """Offset of the first turn of its conversation, which a silence ends."""
    model: str
    turn: Turn


class SessionEntry(Entry):
    """The last turns of a session; its key is the group, the partition's number, tenant, source and session."""

    turns: list[SaidTurn] = Field(default_factory=list)
    mark: int = 0  # In the group's own entry: up to where all is stored.


class Conversation(NamedTuple):
    """A conversation that has ended, in a session's entry."""

    key: Key
    turns: list[SaidTurn]

    def record(self, partition: int) -> Generation:
        """Its last turns as one response; its id is that of the session, and where it began."""
        *_, tenant, source, session = self.key
        last, said = self.turns[-1], [one.turn for one in self.turns]
        lines = (f"{f'User: {turn.prompt}{chr(10)}' if turn.prompt else ''}Answer: {turn.response}" for turn in said)
        return Generation(
            kind="generation",
            id=f"{session[:200]}/{partition}-{last.began}",
            occurred_at=datetime.fromtimestamp(last.at, UTC),
            source=source,
            model=last.model,
            tenant=tenant or None,
            session=session,
            response="\n".join(lines),
        )


class SessionPartition(PartitionState[SessionEntry]):
    """The sessions of one partition.

    In memory are the turns that a record from the mark on may be behind; stored are those before the mark alone.
    """

    def __init__(
        self,
        owner: Key,
        stored_in: int,
        topic: str,
        *,
        turns: int,
        silent_seconds: float,
        most: int,
        awaits_end: bool = False,
    ) -> None:
        """`owner`: group and number of the partition; `stored_in`: number of that of the state topic.

        `turns`: how many a record is behind at most. If it `awaits_end`, a conversation is kept until it is closed.
        """
        super().__init__(stored_in, most=most, forget_seconds=silent_seconds, clock=lambda: self._now)
        self._awaits_end = awaits_end
        self._owner, self._topic, self._turns = owner, topic, turns
        self._mark = 0
        self._stored_mark: int | None = None
        self._resets = 0
        self._now = 0.0
        self.heard_at = 0.0
        """When the last record followed was sent, in seconds since 1970."""

    def _read(self, stored: bytes) -> SessionEntry:
        return SessionEntry.model_validate_json(stored)

    def _begin(self, key: Key) -> SessionEntry:
        return SessionEntry(key=key, resets=self._resets)

    def restore(self, stored: Mapping[bytes, bytes], ends: Mapping[str, int]) -> None:
        """Take up the owner's entries; `ends`: the committed offset."""
        own, end = encoded(self._owner), ends[self._topic]
        mine = {key: value for key, value in stored.items() if key == own or key.startswith(own + b"\x1f")}
        super().restore(mine, ends)
        self._resets = max((entry.resets for entry in self.entries.values()), default=0)
        mark = self.entries.pop(self._owner, None)
        # One that is new, or was set back, as the offsets were: what was said before is not known.
        self._stored_mark = mark.mark if mark is not None and mark.mark <= end else None
        self._mark = end if self._stored_mark is None else self._stored_mark
        self.entries = {key: entry for key, entry in self.entries.items() if entry.offsets.get(self._topic)}

    @property
    def mark(self) -> int:
        """The offset up to which what was said is stored."""
        return self._mark

    def follow(self, record: Any, max_bytes: int) -> tuple[Turn, ...]:
        """The turns that a record is behind, the oldest first; from now on it is one itself. In offset order."""
        self.heard_at = max(self.heard_at, record.timestamp / 1000)
        said = _said(record.value, max_bytes)
        if said is None or (session := session_of(said)) is None:
            return ()
        key = (*self._owner, *session)
        if recheck_of(record.headers) is not None:
            # A record of the past is no turn; while its session is kept, it is behind what it was behind.
            known = self.entries.get(key)
            is_kept = known is not None and any(one.turn.record_id == said.id for one in known.turns)
            return self._behind(known, said.id) if known is not None and is_kept else ()
        if (entry := self._entry(key)) is None:
            return ()
        if not entry.is_counted(record):
            self._say(entry, said, record)
        return self._behind(entry, said.id, record.offset)

    def _say(self, entry: SessionEntry, said: Generation, record: Any) -> None:
        turns, at = entry.turns, record.timestamp / 1000
        begins = not turns or at - turns[-1].at > self._forget_seconds
        if begins or all(one.turn.record_id != said.id for one in self._last(turns, self._turns)):
            entry.counted_at = max(at, turns[-1].at) if turns else at
            began = record.offset if begins else turns[-1].began
            one = SaidTurn(offset=record.offset, at=entry.counted_at, began=began, model=said.model, turn=said.turn)
            turns.append(one)
        self._note(entry, record)

    def _behind(self, entry: SessionEntry, record_id: str, offset: float = float("inf")) -> tuple[Turn, ...]:
        """The turns before that of a record, or before its offset. One that comes again is behind the same ones."""
        held = self._last([one for one in entry.turns if one.offset <= offset], 2 * self._turns + 1)
        recent = [one.turn for one in held[-self._turns - 1 :]]
        count = len(held) - len(recent) + len(before(recent, record_id))
        return tuple(one.turn for one in held[:count][-self._turns :])

    def _last(self, turns: list[SaidTurn], count: int) -> list[SaidTurn]:
        """The last of these turns, so many at most, and none from before a silence."""
        return [one for one in turns if one.began == turns[-1].began][-count:]

    def ended(self, mark: int, now: float) -> list[Conversation]:
        """The conversations that are silent, or that another one followed, if all of it is before `mark`."""
        return [
            Conversation(key, turns[-self._turns :])
            for key, entry in self.entries.items()
            for began, of_it in groupby(entry.turns, lambda one: one.began)
            if (turns := list(of_it))[-1].offset < mark
            if began != entry.turns[-1].began or turns[-1].at < now - self._forget_seconds
        ]

    def close(self, conversation: Conversation) -> None:
        """Forget a conversation that has ended."""
        key, began = conversation.key, conversation.turns[-1].began
        if (entry := self.entries.get(key)) is not None:
            entry.turns = [one for one in entry.turns if one.began != began]
            self._changed[key] = None
            if not entry.turns:
                del self.entries[key]

    def snapshot(self, state_topic: str, mark: int, now: float | None = None) -> list[Outgoing]:
        """Messages that store what was said before `mark`, which is committed; none if that is stored.

        `now`, in seconds since 1970, says which sessions are silent; by default the time of the last record followed.
        """
        self._mark, self._now = mark, self.heard_at if now is None else now
        self.forget_old()
        changed, self._changed = self._changed, {}
        for key in changed:
            entry = self.entries.get(key)
            said = [one for one in entry.turns if one.offset < mark] if entry is not None else []
            if entry is None or said:
                self._changed[key] = None
            if entry is not None:
                entry.turns[: len(said)] = self._pruned(said)
        later = {key: None for key in changed if key in self.entries and self.entries[key].turns[-1].offset >= mark}
        messages = self.changes(state_topic)
        self._changed = later
        if not messages and mark == self._stored_mark:
            return []
        self._stored_mark = mark
        own = SessionEntry(key=self._owner, mark=mark, offsets={self._topic: mark}, resets=self._resets)
        # Behind what it stands for, in the same partition.
        return [*messages, super()._stored(state_topic, own.key, own)]

    def _pruned(self, said: list[SaidTurn]) -> list[SaidTurn]:
        if not self._awaits_end:
            return self._last(said, 2 * self._turns)
        each = (list(turns)[-2 * self._turns :] for _, turns in groupby(said, lambda one: one.began))
        return [one for turns in each for one in turns]

    def _stored(self, topic: str, key: Key, entry: SessionEntry | None) -> Outgoing:
        if entry is not None:
            said = [one for one in entry.turns if one.offset < self._mark]
            offsets = {each: min(offset, self._mark) for each, offset in entry.offsets.items()}
            at = said[-1].at if said else 0.0
            entry = entry.model_copy(
                update={"turns": said, "offsets": offsets, "counted_at": at, "resets": self._resets}
            )
        return super()._stored(topic, key, entry)

    def _is_old(self, entry: SessionEntry) -> bool:
        # One whose end is awaited goes when it is closed.
        return not self._awaits_end and super()._is_old(entry) and entry.turns[-1].offset < self._mark


def _said(value: bytes | None, max_bytes: int) -> Generation | None:
    if value is None or b'"session"' not in value:
        return None
    try:
        record = read_record(value, max_bytes=max_bytes)
    except Unreadable:
        return None
    return record if isinstance(record, Generation) else None


OnEnd: TypeAlias = Callable[[Generation, Origin], Awaitable[Sequence[Outgoing] | None]]
"""From a conversation as a record, and the position of its last turn, to what is published; None: ask again later."""


class SessionKeeper:
    """Follows the records of the partitions that a group has assigned to this member."""

    def __init__(
        self,
        group: str,
        turns: int,
        runtime: Runtime,
        *,
        flush_seconds: float = FLUSH_SECONDS,
        on_end: OnEnd | None = None,
    ) -> None:
        """`group`: the checker's name; `turns`: how many a record is to be behind at most.

        `on_end` is called about each conversation that has ended.
        """
        self._on_end = on_end
        self._group, self._turns = group, turns
        self._settings = runtime.settings
        self._publisher = runtime.publisher
        self._flush_seconds = flush_seconds
        self._partitions: dict[int, SessionPartition] = {}

    async def take_over(self, committed: Mapping[TP, Committed]) -> None:
        """Restore what was said in these partitions before the committed offsets.

        Raises:
            StreamError, KafkaError: as `read_between`, or the broker does not take the snapshot.
        """
        kafka, topics = self._settings.kafka, self._settings.topics
        partitions: dict[int, SessionPartition] = {}
        missing: dict[TopicPartition, tuple[int, int]] = {}
        # There may be more partitions of the one topic than of the other.
        count = len(await partitions_of(kafka, topics.session_state))
        most = max(1, _MOST_SESSIONS // max(count, len(committed)))
        stored = await stored_messages(kafka, topics.session_state, {place.partition % count for place in committed})
        silent = self._settings.sessions.silent_minutes * 60
        for place, at in committed.items():
            number, stored_in = place.partition, place.partition % count
            partition = partitions[number] = SessionPartition(
                (self._group, str(number)),
                stored_in,
                topics.outputs,
                turns=self._turns,
                silent_seconds=silent,
                most=most,
                awaits_end=self._on_end is not None,
            )
            partition.restore(stored[stored_in], {topics.outputs: at.offset})
            if partition.mark < at.offset:
                missing[TopicPartition(topics.outputs, number)] = partition.mark, at.offset
        if missing:
            async for record in read_between(kafka, missing):
                partitions[record.partition].follow(record, self._settings.records.max_bytes)
        # Also where nothing was stored before: what comes from here on is known from now on.
        snapshots = [partitions[tp.partition].snapshot(topics.session_state, at.offset) for tp, at in committed.items()]
        await self._publisher.publish(*(message for each in snapshots for message in each))
        self._partitions = partitions

    def follow(self, record: Any) -> tuple[Turn, ...]:
        """As of a partition; nothing of a partition that was taken away."""
        partition = self._partitions.get(record.partition)
        return () if partition is None else partition.follow(record, self._settings.records.max_bytes)

    def let_go(self) -> None:
        """The partitions are being reassigned: their next owner has what is stored, and the topic."""
        self._partitions = {}

    async def run(self, app: GroupApp, take_over: Callable[[], Awaitable[None]]) -> None:
        """Store snapshots, until cancelled; raises StreamError where the broker does not take them.

        `take_over` has this object take over what is assigned: conversations end without a message, too.
        """
        while True:
            await asyncio.sleep(self._flush_seconds)
            if self._on_end is not None and app.joined:
                await take_over()
            partitions = self._partitions
            try:
                progress = await app.progress() if app.joined and partitions else {}
            except KafkaError:
                continue
            # Records of a backlog were sent one after the other, whenever they are read.
            times = {tp: time.time() if each.finished >= each.end else None for tp, each in progress.items()}
            held = [tp for tp in progress if tp.partition in partitions]
            for tp in held:
                await self._end(partitions[tp.partition], tp.partition, progress[tp].finished, times[tp])
            if partitions is self._partitions and app.is_member():
                snapshots = [
                    partitions[tp.partition].snapshot(
                        self._settings.topics.session_state, progress[tp].finished, times[tp]
                    )
                    for tp in held
                ]
                await self._publisher.publish(*(message for each in snapshots for message in each))

    async def _end(self, partition: SessionPartition, number: int, mark: int, now: float | None) -> None:
        """Publish what there is to say of conversations that have ended, then close them.

        What is published before a crash is published again, as the state still has the conversation.
        """
        if self._on_end is None:
            return
        topic = self._settings.topics.outputs
        ended = partition.ended(mark, partition.heard_at if now is None else now)
        for begin in range(0, len(ended), _ENDING_AT_ONCE):
            some = ended[begin : begin + _ENDING_AT_ONCE]
            origins = (Origin(topic=topic, partition=number, offset=one.turns[-1].offset) for one in some)
            asked = (self._on_end(one.record(number), at) for one, at in zip(some, origins, strict=True))
            for one, answer in zip(some, await asyncio.gather(*asked), strict=True):
                if answer is not None and self._partitions.get(number) is partition:
                    await self._publisher.publish(*answer)
                    partition.close(one)
