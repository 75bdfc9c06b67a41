"""Delivery: many records of a partition in flight; none is acknowledged before its answer is, and none is lost."""

import asyncio
import random
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import structlog
from aiokafka.errors import KafkaError
from faust.streams import Stream
from faust.types import TP

from schemas import DeadLetter, DeadLetterReason, Unreadable
from streams.admission import AckWindow, Assigned, Gate, Place, Slot, Slots, Trial
from streams.clients import Received
from streams.errors import StreamError
from streams.faust_app import GroupConsumer
from streams.messages import (
    Handler,
    Hold,
    Incoming,
    OnEnded,
    Outgoing,
    Publisher,
    Screen,
    TooLarge,
    dead_letter_message,
    marked_as_answer,
)
from streams.metrics import StreamMetrics
from streams.settings import MAX_KEPT_BYTES, StreamSettings
from streams.takeover import Takeover

_WINDOW = 4096
"""Records of one partition from the oldest unfinished one to the newest begun one. So many are checked again after a
crash at most; intake waits for the oldest where it takes that long."""

_ATTEMPTS = 3
"""A record becomes a dead letter after so many that ended with an unexpected error of the checker."""

_FIRST_PAUSE_SECONDS = 0.2
"""Pause between attempts of a failing checker, doubled each time: a local hiccup passes in that time."""

_IN_A_TURN = 100
"""Records passed over before the event loop has its turn: less than a millisecond of work."""

_TAKEOVER_PAUSE_SECONDS = 0.5
_MEMBER_PAUSE_SECONDS = 0.1

_CANCEL_SECONDS = 2.0
"""A cancelled handler has this long to clean up (closing a connection) before it is left behind."""

_log = structlog.get_logger(__name__)


class Delivery:
    """Consumes a group's messages, answers each, and commits in order."""

    def __init__(
        self,
        *,
        name: str,
        handler: Handler,
        publisher: Publisher,
        settings: StreamSettings,
        metrics: StreamMetrics,
        on_fatal: Callable[[BaseException], None],
        on_ended: OnEnded = lambda incoming, answered: None,
        trial_seconds: float | None = None,
        screen: Screen | None = None,
        takeover: Takeover | None = None,
    ) -> None:
        """`on_ended`: see there. After `on_fatal` the process must end without committing the record's offset."""
        self._name = name
        self._handler = handler
        self._screen = screen
        self._takeover = takeover
        self._answered: dict[tuple[TP, int], Outgoing | None] = {}
        """By partition and offset what was answered before the partitions were taken over, and what follows yet."""
        self._last_answered: dict[TP, tuple[int, float]] = {}
        """By partition the last such offset, and since when, by Unix time, there are any."""
        self._generation: int | None = None  # That of the last takeover.
        self._taking_over = asyncio.Lock()
        self._publisher = publisher
        self._topics = settings.topics
        self._metrics = metrics
        self._on_fatal = on_fatal
        self._on_ended = on_ended
        self._gate = Gate(self._log_gate, trial_seconds)
        self._window = AckWindow(_WINDOW)
        self._slots = Slots(settings.delivery.concurrency)
        self._under_way: dict[asyncio.Task[None], Incoming] = {}
        self._draining = False
        self._consumer: GroupConsumer | None = None
        self._epoch = 0

    @property
    def paused(self) -> bool:
        """True if no new record is started because records are held."""
        return self._gate.closed or (self._gate.held > 0 and self._slots.locked())

    @property
    def held(self) -> int:
        return self._gate.held

    @property
    def in_flight(self) -> int:
        """Number of records started and not finished, including held ones."""
        return len(self._under_way)

    async def run(self, stream: Stream[Any]) -> None:
        """Process a Faust stream of lists until it ends; the body of an agent."""
        self._consumer = cast("GroupConsumer", stream.app.consumer)
        async for event in stream.noack().events():
            message = event.message
            await self._begin_all(message.value, (message.tp, message.generation_id))

    async def drain(self, seconds: float) -> None:
        """Start nothing more, let running records finish for `seconds`, then cancel and forget the rest.

        Held records, and those that no model has worked on yet, are cancelled at once; all are where the group may have
        given the partitions to others already. They are not acknowledged, so they are read again.
        """
        self._epoch += 1
        self._draining = True
        try:
            for task, incoming in self._under_way.items():
                if incoming.slot.only_waits:
                    task.cancel()
            if self._consumer is not None and not self._consumer.is_member():
                seconds = 0
            if self._under_way:
                await asyncio.wait(self._under_way, timeout=max(seconds, 0))
            if left_over := [*self._under_way]:
                _log.info("records cancelled, they come back", checker=self._name, records=len(left_over))
                for task in left_over:
                    task.cancel()
                await asyncio.wait(left_over, timeout=_CANCEL_SECONDS)
        finally:
            self._window.clear()
            self._gate.open()
            self._draining = False

    async def _begin_all(self, records: list[Received], partition: Assigned) -> None:
        """Begin the records of a list, unless there is a drain meanwhile: then the partition is being handed over."""
        epoch = self._epoch
        tp, generation = partition
        await self.take_over(generation)
        # Taken out of the list: those that are finished need not wait there for those that are not begun.
        records.reverse()
        while records and epoch == self._epoch:
            record = self._next(records, partition)
            if record is None:
                await asyncio.sleep(0)
                continue
            is_new = (tp, record.offset) not in self._answered
            answer = self._answered.pop((tp, record.offset), None)
            if not is_new and answer is None:
                self._pass_over(partition, record.offset)
                continue
            await self._slots.acquire()
            trial, begun = None, False
            try:
                trial = await self._gate.passed() if is_new else None
                if epoch == self._epoch:
                    await self._window.room(partition)
                begun = epoch == self._epoch
            finally:
                if not begun:
                    self._slots.release()
                    self._gate.passed_trial(trial)
            if begun:
                self._begin(self._window.enter(partition, record.offset), record, trial, answer)

    async def take_over(self, generation: int) -> None:
        """Read what others have answered of the partitions that are assigned now; again until that can be read."""
        async with self._taking_over:
            if generation == self._generation or self._consumer is None:
                return
            epoch = self._epoch
            self._answered, self._last_answered = {}, {}
            while self._takeover is not None and epoch == self._epoch:
                try:
                    committed = await self._consumer.taken_over()
                    answered = await self._takeover.read(committed)
                except (KafkaError, StreamError) as error:
                    _log.warning("answers cannot be read yet", checker=self._name, error=type(error).__name__)
                    await asyncio.sleep(_TAKEOVER_PAUSE_SECONDS)
                    continue
                if epoch == self._epoch:
                    self._answered = answered
                    for tp, offset in sorted(answered):
                        self._last_answered[tp] = offset, committed[tp].since or 0.0
                break
            self._generation = generation

    def _member(self) -> GroupConsumer:
        if self._consumer is None:
            raise StreamError(f"{self._name} has not begun to read")
        return self._consumer

    def _next(self, records: list[Received], partition: Assigned) -> Received | None:
        """Take off the list what is passed over, then the next record; None if the event loop is to have its turn."""
        passed_over = 0
        if self._screen is not None and (passed_over := self._screen(islice(reversed(records), _IN_A_TURN))):
            last = records[-passed_over]
            del records[-passed_over:]
            self._pass_over(partition, last.offset)
        return records.pop() if records and passed_over < _IN_A_TURN else None

    def _pass_over(self, partition: Assigned, offset: int) -> None:
        if self._window.pass_over(partition, offset):
            self._acknowledge(partition, offset)

    def _acknowledge(self, partition: Assigned, offset: int) -> None:
        """Have Faust's timer commit the offset behind a record, all before it being finished."""
        last, since = self._last_answered.get(partition[0], (-1, 0.0))
        if offset >= last:
            first = self._window.first(partition)
            since = time.time() if first is None else first.begun
        self._member().acknowledge(partition[0], offset + 1, since)

    def _begin(self, place: Place, record: Received, trial: Trial | None, follow_up: Outgoing | None) -> None:
        position, sent_at = (record.topic, record.partition, record.offset), record.timestamp / 1000
        incoming = Incoming(*position, record.key, record.value, Slot(self._slots), record.headers, sent_at)
        task = asyncio.create_task(self._deliver(incoming, trial, follow_up))
        self._under_way[task] = incoming
        task.add_done_callback(partial(self._ended, incoming, place))

    def _ended(self, incoming: Incoming, place: Place, task: asyncio.Task[None]) -> None:
        """Acknowledge the record with those before it, or leave it to its next reader."""
        del self._under_way[task]
        incoming.slot.end()
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            if (last := self._window.finish(place)) is not None:
                self._acknowledge(place.partition, last)
            return
        self._on_ended(incoming, False)
        if not task.cancelled():
            _log.error("answer not delivered", checker=self._name, error=type(error).__name__)
            self._on_fatal(error)

    async def _deliver(self, incoming: Incoming, trial: Trial | None, follow_up: Outgoing | None) -> None:
        """Return when the broker has acknowledged the answer, or what was still to follow it."""
        answer: Sequence[Outgoing]
        try:
            answer = await self._answer(incoming, trial) if follow_up is None else [follow_up]
        except Unreadable as error:
            answer = [self._letter(incoming, error.reason, error.detail)]
        # One that no broker takes would end every worker that meets the message.
        for keep_bytes in (MAX_KEPT_BYTES, 0):
            try:
                await self._send(answer, incoming)
            except TooLarge as error:
                detail = f"the answer is larger than the broker takes: {error}"
                answer = [self._letter(incoming, "undeliverable", detail, keep_bytes=keep_bytes)]
            else:
                return
        await self._send(answer, incoming)

    async def _send(self, answer: Sequence[Outgoing], incoming: Incoming) -> None:
        while not self._member().is_member():
            # The partitions may be another's, who answers the record: until the group says so, or the drain.
            if self._draining:
                raise asyncio.CancelledError
            incoming.slot.only_waits = True
            await asyncio.sleep(_MEMBER_PAUSE_SECONDS)
        incoming.slot.only_waits = False
        if incoming.before_answer is not None:
            await incoming.before_answer()
        if self._takeover is not None:
            answer = [marked_as_answer(message, self._name, incoming) for message in answer]
        await self._publisher.publish(*answer)

    async def _answer(self, incoming: Incoming, trial: Trial | None) -> Sequence[Outgoing]:
        """Have it handled until there is an answer; raises `Unreadable`."""
        failures, slot = 0, incoming.slot
        try:
            while True:
                incoming.attempt += 1
                try:
                    answer = await self._handler(incoming)
                except Hold as hold:
                    if hold.otherwise is not None and slot.patience_ends(hold.give_up_seconds, self._gate.answered):
                        return hold.otherwise()
                    trial = await self._hold(hold, slot, trial)
                except Unreadable:
                    raise
                except (Exception, asyncio.CancelledError) as error:
                    # A handler may run into the cancellation of something else; nobody would answer the record then.
                    task = asyncio.current_task()
                    if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                        raise
                    failures += 1
                    if failures >= _ATTEMPTS:
                        return [self._letter(incoming, "checker_failed", _raised_at(error))]
                    await asyncio.sleep(_FIRST_PAUSE_SECONDS * 2 ** (failures - 1) * random.uniform(0.75, 1.25))  # noqa: S311
                else:
                    if answer is None:
                        return ()
                    self._gate.answer()
                    return answer
        finally:
            self._gate.passed_trial(trial)

    async def _hold(self, hold: Hold, slot: Slot, trial: Trial | None) -> Trial | None:
        """Wait until the record may be tried again; returns as the gate does."""
        if self._draining:
            raise asyncio.CancelledError
        if hold.others_pass:
            slot.give_up()
        slot.only_waits = True
        try:
            suspect = hold.otherwise is not None
            trial = await self._gate.hold(hold.retry_after, trial=trial, suspect=suspect, others_pass=hold.others_pass)
            if trial is None:
                # When what they waited for is back, those that gave up their slot do not all come at once.
                await slot.take_again()
            return trial
        finally:
            slot.only_waits = False

    def _log_gate(self, closed: bool) -> None:
        _log.warning("intake paused" if closed else "intake resumed", checker=self._name)

    def _letter(
        self, incoming: Incoming, reason: DeadLetterReason, detail: str, *, keep_bytes: int = MAX_KEPT_BYTES
    ) -> Outgoing:
        letter = DeadLetter.of(
            incoming.value,
            reason=reason,
            detail=detail,
            origin=incoming.origin,
            checker=self._name,
            keep_bytes=keep_bytes,
            key=incoming.key,
        )
        # The detail may quote the record, so it goes to the topic only and never into a log.
        at = letter.origin.model_dump()
        _log.warning("dead letter", checker=self._name, id=letter.id, reason=reason, **at)
        message = dead_letter_message(letter, self._topics)

        def delivered() -> None:
            self._on_ended(incoming, True)
            self._metrics.dead_letters.labels(self._name, reason).inc()

        message.on_delivered = delivered
        return message


def _raised_at(error: BaseException) -> str:
    """The exception's class and where it was raised. Without its text, which may quote the record."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
