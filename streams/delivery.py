"""Delivery: many records of a partition in flight; none is acknowledged before its answer is, and none is lost."""

import asyncio
import random
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import structlog

from schemas import DeadLetter, DeadLetterReason, Unreadable
from streams.ack_window import AckWindow, Place
from streams.intake_gate import Hold, IntakeGate
from streams.messages import Handler, Incoming, Outgoing, dead_letter_message
from streams.patience import Patience
from streams.publisher import Publisher, TooLarge
from streams.settings import MAX_KEPT_BYTES, StreamSettings
from streams.slots import Slot, Slots

_WINDOW = 4096
"""Records of one partition from the oldest unfinished one to the newest begun one. So many are checked again after a
crash at most; intake waits for the oldest where it takes that long."""

_ATTEMPTS = 3
"""A record becomes a dead letter after so many that ended with an unexpected error of the checker."""

_FIRST_PAUSE_SECONDS = 0.2
"""Pause between attempts of a failing checker, doubled each time: a local hiccup passes in that time, and three
attempts of a poisonous record delay its partition's low-water mark by less than a second."""

_HOLD_SECONDS = 300.0
"""A record on which its model fails again and again while others are answered is held for this long at least, unless it
says how long: the model may have been restarted several times meanwhile."""

_CANCEL_SECONDS = 2.0
"""A cancelled handler has this long to clean up (closing a connection) before it is left behind."""

_log = structlog.get_logger(__name__)


class Delivery:
    """The way of a consumer group's messages from the topic to the acknowledged answer."""

    def __init__(
        self,
        *,
        name: str,
        handler: Handler,
        publisher: Publisher,
        settings: StreamSettings,
        on_dead_letter: Callable[[DeadLetterReason], None],
        on_fatal: Callable[[BaseException], None],
        trial_seconds: float | None = None,
    ) -> None:
        """`on_dead_letter` is called when a dead letter was delivered.

        `on_fatal` is called if an answer cannot be delivered: the process must end without committing the offset.
        """
        self._name = name
        self._handler = handler
        self._publisher = publisher
        self._settings = settings.delivery
        self._records = settings.records
        self._topics = settings.topics
        self._on_dead_letter = on_dead_letter
        self._on_fatal = on_fatal
        self._gate = IntakeGate(self._log_gate, trial_seconds)
        self._window: AckWindow[Any] = AckWindow(_WINDOW)
        self._slots = Slots(self._settings.concurrency)
        self._running: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[None]] = set()
        """Those among them that are held, or queue for a model with their first question."""
        self._draining = False
        self._consumer: Any = None
        self._epoch = 0

    @property
    def paused(self) -> bool:
        """True if no new record is started because records are held."""
        return self._gate.closed or (self._gate.held > 0 and self._slots.locked())

    @property
    def held(self) -> int:
        """Number of records that wait for their next attempt."""
        return self._gate.held

    @property
    def in_flight(self) -> int:
        """Number of records started and not finished, including held ones."""
        return len(self._running)

    async def run(self, stream: Any) -> None:
        """Process the events of a Faust stream until it ends; the body of an agent."""
        self._consumer = stream.app.consumer
        async for event in stream.noack().events():
            epoch = self._epoch
            await self._slots.acquire()
            trial, begun = 0, False
            try:
                trial = await self._gate.passed()
                # A drain while this event waited means that its partition is being handed over: it comes back.
                if epoch == self._epoch:
                    place = await self._window.enter(event.message)
                    begun = epoch == self._epoch
                    if not begun:
                        self._window.withdraw(place)
            finally:
                if not begun:
                    self._slots.release()
                    self._gate.passed_trial(trial)
            if begun:
                self._begin(place, trial)

    async def drain(self, seconds: float) -> None:
        """Start nothing more, let running records finish for `seconds`, then cancel and forget the rest.

        Held records, and those that no model has worked on yet, are cancelled at once. They are not acknowledged, so
        they are read again.
        """
        self._epoch += 1
        self._draining = True
        try:
            for task in self._waiting:
                task.cancel()
            if self._running and seconds > 0:
                await asyncio.wait(self._running, timeout=seconds)
            left_over = list(self._running)
            for task in left_over:
                task.cancel()
            if left_over:
                _log.info("records cancelled, they come back", checker=self._name, records=len(left_over))
                await asyncio.wait(left_over, timeout=_CANCEL_SECONDS)
        finally:
            self._window.clear()
            self._gate.open()
            self._draining = False

    def _begin(self, place: Place[Any], trial: int) -> None:
        message = place.message
        incoming = Incoming(
            message.topic, message.partition, message.offset, message.key, message.value, message.headers or ()
        )
        slot = Slot(self._slots)

        def queue(waits: bool) -> None:
            slot.queue(waits)
            (self._waiting.discard if slot.worked_on else self._waiting.add)(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            slot.end()
            self._fail_if_undelivered(task)

        incoming.give_up_slot, incoming.queue = slot.give_up, queue
        task = asyncio.create_task(self._deliver(place, incoming, slot, trial))
        self._running.add(task)
        task.add_done_callback(ended)

    def _fail_if_undelivered(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("answer not delivered", checker=self._name, error=type(error).__name__)
            self._on_fatal(error)

    async def _deliver(self, place: Place[Any], incoming: Incoming, slot: Slot, trial: int) -> None:
        try:
            await self._publish(incoming, slot, trial)
        except asyncio.CancelledError:
            incoming.ended(False)
            raise
        # While older ones keep the window open, what is finished need not keep its bytes.
        place.message.value = None
        for finished in self._window.finish(place):
            # Here the offset is given to Faust, whose timer commits it.
            finished.ack(self._consumer)

    async def _publish(self, incoming: Incoming, slot: Slot, trial: int) -> None:
        try:
            await self._publisher.publish(*await self._answer(incoming, slot, trial))
        except TooLarge as error:
            await self._publish_undeliverable(incoming, f"the answer is larger than the broker takes: {error}")

    async def _publish_undeliverable(self, incoming: Incoming, detail: str) -> None:
        try:
            await self._publisher.publish(self._letter(incoming, "undeliverable", detail))
        except TooLarge:
            # A letter too large for its topic would end every worker that meets the message.
            await self._publisher.publish(self._letter(incoming, "undeliverable", detail, keep_bytes=0))

    async def _answer(self, incoming: Incoming, slot: Slot, trial: int) -> Sequence[Outgoing]:
        try:
            return await self._handled(incoming, slot, trial)
        except Unreadable as error:
            return [self._letter(incoming, error.reason, error.detail)]

    async def _handled(self, incoming: Incoming, slot: Slot, trial: int) -> Sequence[Outgoing]:
        failures = 0
        patience: Patience | None = None
        try:
            while True:
                incoming.attempt += 1
                try:
                    answer = await self._handler(incoming)
                except Hold as hold:
                    seconds = _HOLD_SECONDS if hold.give_up_seconds is None else hold.give_up_seconds
                    patience = patience or Patience(seconds)
                    if hold.otherwise is not None and patience.ends(self._gate.answered):
                        return hold.otherwise()
                    trial = await self._hold(hold, slot, trial)
                except Unreadable:
                    raise
                except (Exception, asyncio.CancelledError) as error:
                    # A handler may run into the cancellation of something else; nobody would answer the record then.
                    if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                        raise
                    failures += 1
                    if failures >= _ATTEMPTS:
                        return [self._letter(incoming, "checker_failed", _place_of(error))]
                    await asyncio.sleep(_FIRST_PAUSE_SECONDS * 2 ** (failures - 1) * random.uniform(0.75, 1.25))  # noqa: S311
                else:
                    if answer is None:
                        return ()
                    self._gate.answer()
                    return answer
        finally:
            self._gate.passed_trial(trial)

    async def _hold(self, hold: Hold, slot: Slot, trial: int) -> int:
        """Wait until the record may be tried again; returns as the gate does."""
        task = asyncio.current_task()
        if self._draining or task is None:
            raise asyncio.CancelledError
        if hold.others_pass:
            slot.give_up()
        suspect = hold.otherwise is not None
        self._waiting.add(task)
        try:
            trial = await self._gate.hold(hold.retry_after, trial=trial, others_pass=hold.others_pass, suspect=suspect)
            if not trial:
                # When what they waited for is back, those that gave up their slot do not all come at once.
                await slot.take_again()
            return trial
        finally:
            self._waiting.discard(task)

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
        _log.warning(
            "dead letter",
            checker=self._name,
            id=letter.id,
            reason=reason,
            topic=incoming.topic,
            partition=incoming.partition,
            offset=incoming.offset,
        )
        message = dead_letter_message(letter, self._topics)

        def delivered() -> None:
            self._on_dead_letter(reason)
            incoming.ended(True)

        message.on_delivered = delivered
        return message


def _is_cancelled() -> bool:
    """True if the current task itself was asked to end."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _place_of(error: BaseException) -> str:
    """The exception's class and where it was raised. Its text is left out: it may quote the record."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
