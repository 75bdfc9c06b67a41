"""Messages as they are read from topics and published; one is out when the broker has acknowledged it."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from aiokafka import AIOKafkaProducer
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from schemas import (
    Alert,
    Calibration,
    DeadLetter,
    Envelope,
    Improvement,
    Label,
    Origin,
    Outcome,
    ReviewRequest,
    SeriesAnew,
    TrueRateAlert,
    Verdict,
    to_json,
)
from streams.admission import Slot
from streams.clients import REQUEST_TIMEOUT_SECONDS, Client, Received
from streams.connection import connection, start
from streams.errors import StreamError
from streams.settings import StreamSettings, TopicSettings

_BATCH_BYTES = 262_144
"""Many small produce requests cost a quarter of a worker's time; 256 KiB hold the messages of 5 ms of linger."""

_LINGER_MILLISECONDS = 5

_RECONNECT_PAUSE_SECONDS = 0.25
"""While a partition has no leader, aiokafka's sender asks for metadata without any pause: thousands of connections a
second through a broker's restart."""

Headers: TypeAlias = list[tuple[str, bytes]]

REPLAYED_FROM = "assay-replayed-from"
"""Header of a replayed message: the id of its dead letter."""

RECHECK = "assay-recheck"
"""Header of a record that is put onto its topic once more: the checker that alone is to check it."""

ANSWERS = "assay-answers"
"""Header of an answer: whose it is, and the topic, partition and offset of the message that it answers."""

_HOLD_SECONDS = 300.0
"""A message on which its model fails while others are answered is held for this long at least, unless it says so."""

_PAST: dict[Outcome, str] = {"accept": "accepted", "reject": "rejected", "abstain": "abstained"}
"""Outcomes as they occur in topic names, settings and event types."""

_ALERTS = {Alert: "alert", SeriesAnew: "series-anew", TrueRateAlert: "true-rate-alert"}


@dataclass(slots=True, eq=False)
class Incoming:
    """A message as read from its topic."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    slot: Slot  # Its handler says when it only waits.
    headers: Sequence[tuple[str, bytes]] = ()
    sent_at: float = 0.0  # Its timestamp, in seconds since 1970.
    before_answer: Callable[[], Awaitable[None]] | None = None  # Done before the answer is sent.
    attempt: int = 0  # Number of attempts to process it, including this one.
    since: float = field(default_factory=time.monotonic)  # When it was begun.

    @property
    def recheck(self) -> str | None:
        """The checker that alone is to check it, if it was put onto its topic once more."""
        return recheck_of(self.headers)

    @property
    def origin(self) -> Origin:
        return Origin(topic=self.topic, partition=self.partition, offset=self.offset)


@dataclass(slots=True)
class Outgoing:
    """A message to be published."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    partition: int | None = None  # The key decides if absent.
    on_delivered: Callable[[], None] | None = None  # Called when the broker has acknowledged it.
    then: "Follow | None" = None
    """Builds the message to be published after it, from its position; None where the broker cannot say. Those
    messages are in the order of the ones that they follow."""


Follow: TypeAlias = Callable[[Origin | None], Outgoing]


class Hold(Exception):
    """Raised by a handler: keep the message, and try again after `retry_after` seconds."""

    def __init__(
        self,
        retry_after: float,
        *,
        otherwise: Callable[[], Sequence[Outgoing]] | None = None,
        give_up_seconds: float | None = None,
        others_pass: bool = False,
    ) -> None:
        """`otherwise` makes the answer if the message is held for `give_up_seconds` while others are answered.

        Without it the message is not to blame. It needs something that others do not need if `others_pass`.
        """
        self.retry_after = retry_after
        self.otherwise = otherwise
        self.give_up_seconds = _HOLD_SECONDS if give_up_seconds is None else give_up_seconds
        self.others_pass = others_pass


OnEnded: TypeAlias = Callable[[Incoming, bool], None]
"""Called with True when a dead letter answered a message, and with False when it was given back unanswered."""

Handler: TypeAlias = Callable[[Incoming], Awaitable[Sequence[Outgoing] | None]]
"""Processes a message. What it returns is delivered before the message is acknowledged; None passes it over.

It raises `Unreadable` if the message cannot be read, and `Hold` if it is to be tried again later; all else is a failed
attempt. It limits its own time, and is safe to call twice. Those of a partition begin in the order of their offsets.
"""


Screen: TypeAlias = Callable[[Iterable[Received]], int]
"""How many of the next messages a handler would pass over before the first that goes to it. They cost no task; the
screen counts them."""


def recheck_of(headers: Sequence[tuple[str, bytes]]) -> str | None:
    """The checker that `RECHECK` names."""
    return next((value.decode(errors="replace") for name, value in headers if name == RECHECK), None)


def marked_as_answer(message: Outgoing, name: str, incoming: Incoming) -> Outgoing:
    """`message`, which with what follows it says that it is the answer of `name` to `incoming`."""
    message.headers.append((ANSWERS, f"{name}/{incoming.topic}/{incoming.partition}/{incoming.offset}".encode()))
    if (then := message.then) is not None:
        message.then = lambda at: marked_as_answer(then(at), name, incoming)
    return message


def subject_key(source: str, model: str) -> bytes:
    """The key of messages about one subject: its verdicts are in one partition, in order, for the trust monitor."""
    return f"{source}\x1f{model}".encode()


def record_message(record: Envelope, topics: TopicSettings, value: bytes | None = None) -> Outgoing:
    """The message of a record on the outputs topic; `value` is the record as its producer wrote it."""
    # By the subject, one application would fill one partition, and more workers would add nothing.
    key = (record.session or record.id).encode()
    headers = _cloud_event(record.id, f"/{record.source}", "record", datetime.now(UTC), record.model)
    return Outgoing(topics.outputs, key, to_json(record) if value is None else value, headers)


def recheck_message(message: Received, checker: str) -> Outgoing:
    """A record of the outputs topic once more, for one checker alone."""
    return Outgoing(message.topic, message.key, message.value, [*message.headers, (RECHECK, checker.encode())])


def verdict_message(verdict: Verdict, topics: TopicSettings) -> Outgoing:
    """The message of a verdict, on the topic of its outcome, with CloudEvents and OpenTelemetry headers."""
    past, source = _PAST[verdict.outcome], f"/assay/checkers/{verdict.checker}"
    headers = _cloud_event(verdict.id, source, f"verdict.{past}", verdict.checked_at, verdict.record_id)
    headers += [
        ("gen_ai.request.model", verdict.model.encode()),
        ("gen_ai.evaluation.name", verdict.checker.encode()),
        ("gen_ai.evaluation.score.label", verdict.outcome.encode()),
    ]
    if verdict.score is not None:
        headers.append(("gen_ai.evaluation.score.value", repr(verdict.score).encode()))
    return _about(getattr(topics, past), verdict, headers)


def improvement_message(improvement: Improvement, topics: TopicSettings) -> Outgoing:
    source, at = f"/assay/improvers/{improvement.improver}", improvement.improved_at
    headers = _cloud_event(improvement.id, source, "improvement", at, improvement.record_id)
    return _about(topics.improved, improvement, [*headers, ("assay-status", improvement.status.encode())])


def alert_message(alert: Alert | SeriesAnew | TrueRateAlert, topics: TopicSettings) -> Outgoing:
    source, subject = f"/assay/checkers/{alert.checker}", f"{alert.source}/{alert.model}"
    headers = _cloud_event(alert.id, source, _ALERTS[type(alert)], alert.raised_at, subject)
    return _about(topics.alerts, alert, headers)


def request_message(request: ReviewRequest, topics: TopicSettings) -> Outgoing:
    source = f"/assay/checkers/{request.checker}"
    headers = _cloud_event(request.id, source, "review-request", request.asked_at, request.verdict_id)
    return _about(topics.review_requests, request, headers)


def label_message(label: Label, topics: TopicSettings) -> Outgoing:
    """Keyed as its request, in whose partition it is looked for."""
    headers = _cloud_event(label.id, "/assay/labels", "label", label.labelled_at, label.verdict_id)
    return _about(topics.labels, label, headers)


def calibration_message(calibration: Calibration, topics: TopicSettings, key: bytes, partition: int) -> Outgoing:
    """The last one of a `key` is kept."""
    source, subject = f"/assay/checkers/{calibration.checker}", f"{calibration.source}/{calibration.model}"
    headers = _cloud_event(calibration.id, source, "calibration", calibration.updated_at, subject)
    return Outgoing(topics.calibration, key, to_json(calibration), headers, partition=partition)


def dead_letter_message(letter: DeadLetter, topics: TopicSettings) -> Outgoing:
    """Keyed by the letter's id, so that its repeats and its replay are in one partition."""
    subject = f"{letter.origin.topic}/{letter.origin.partition}/{letter.origin.offset}"
    headers = _cloud_event(letter.id, f"/assay/checkers/{letter.checker}", "dead-letter", letter.failed_at, subject)
    headers.append(("assay-reason", letter.reason.encode()))
    return Outgoing(topics.dead_letter, letter.id.encode(), to_json(letter), headers)


def _about(
    topic: str,
    said: Verdict | Improvement | Alert | SeriesAnew | TrueRateAlert | ReviewRequest | Label,
    headers: Headers,
) -> Outgoing:
    return Outgoing(topic, subject_key(said.source, said.model), to_json(said), headers)


def _cloud_event(id_: str, source: str, kind: str, time: datetime, subject: str) -> Headers:
    """CloudEvents 1.0 attributes in Kafka's binary mode."""
    return [
        ("ce_specversion", b"1.0"),
        ("ce_id", id_.encode()),
        ("ce_source", source.encode()),
        ("ce_type", f"assay.{kind}.v1".encode()),
        ("ce_time", time.isoformat().encode()),
        ("ce_subject", subject.encode()),
        ("content-type", b"application/json"),
    ]


class TooLarge(Exception):
    """The message exceeds what the broker or the producer takes."""


Sent: TypeAlias = tuple[Outgoing, asyncio.Future[Any], "asyncio.Future[Sent] | None"]
"""A message on its way, aiokafka's answer, and the message that follows, once it is on its way itself."""


class Publisher(Client):
    """An idempotent producer that waits for all in-sync replicas."""

    def __init__(self, settings: StreamSettings) -> None:
        self._settings = settings
        self._producer: AIOKafkaProducer | None = None
        self._followed: deque[tuple[Follow, asyncio.Future[Any], asyncio.Future[Sent]]] = deque()
        """Messages on their way that another follows, in the order in which they were sent."""
        self._following: asyncio.Task[None] | None = None

    @property
    def client(self) -> AIOKafkaClient:
        """The started producer's, for requests of other kinds."""
        if self._producer is None:
            raise StreamError("the producer is not running")
        return self._producer.client

    async def start(self) -> None:
        """Connect."""
        producer = AIOKafkaProducer(
            **connection(self._settings.kafka, "producer"),
            acks="all",
            enable_idempotence=True,
            max_batch_size=_BATCH_BYTES,
            linger_ms=_LINGER_MILLISECONDS,
            request_timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000),
        )
        _reconnect_calmly(producer.client)
        self._producer = producer
        await start(producer, self._settings.kafka)

    async def stop(self) -> None:
        """Send what is queued, then disconnect."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def publish(self, *messages: Outgoing) -> None:
        """Return when the broker has acknowledged `messages`, and what follows them; raises TooLarge or StreamError."""
        await self.acknowledged(*[await self.put(message) for message in messages])

    async def put(self, message: Outgoing) -> Sent:
        """Queue a message; `acknowledged` then returns or raises as `publish`."""
        if self._producer is None:
            raise StreamError("the producer is not running")
        loop = asyncio.get_running_loop()
        try:
            answer: asyncio.Future[Any] = await self._producer.send(
                message.topic, message.value, message.key, message.partition, headers=message.headers
            )
        except KafkaError as error:
            answer = loop.create_future()
            answer.set_exception(error)
        # Who waited for one may be cancelled: an error is then nobody's, and is not logged with its text.
        followed: asyncio.Future[Sent] = loop.create_future()
        for each in (answer, followed):
            each.add_done_callback(lambda done: done.cancelled() or done.exception())
        if message.then is None:
            return message, answer, None
        self._followed.append((message.then, answer, followed))
        self._following = self._following or asyncio.create_task(self._follow())
        return message, answer, followed

    async def acknowledged(self, *sent: Sent) -> None:
        """Return when the broker has acknowledged what is on its way, and what follows it."""
        for message, answer, followed in sent:
            try:
                follow_up = await (followed or answer)
            except MessageSizeTooLargeError:
                raise TooLarge(f"{len(message.value or b'')} bytes") from None
            except KafkaError as error:
                raise StreamError(f"{type(error).__name__} on {message.topic}") from error
            if message.on_delivered is not None:
                message.on_delivered()
            if followed is not None:
                await self.acknowledged(follow_up)

    async def _follow(self) -> None:
        """Send what follows, in the order of what it follows, whichever topic that is on."""
        while self._followed:
            then, answer, followed = self._followed.popleft()
            try:
                at = await answer
                # Where the broker took a repeat of the request, it does not say where the message is.
                is_known = at.log_start_offset >= 0
                position = Origin(topic=at.topic, partition=at.partition, offset=at.offset) if is_known else None
                sent = await self.put(then(position))
            except Exception as error:  # noqa: BLE001 - who waits for it meets it
                if not followed.done():
                    followed.set_exception(error)
            else:
                # It is cancelled with its record.
                if not followed.done():
                    followed.set_result(sent)
        self._following = None


def _reconnect_calmly(client: Any) -> None:
    update: Callable[..., Awaitable[bool]] = client._metadata_update  # noqa: SLF001 - no public hook for it

    async def with_pause(*args: Any, **kwargs: Any) -> bool:
        updated = await update(*args, **kwargs)
        if not updated:
            await asyncio.sleep(_RECONNECT_PAUSE_SECONDS)
        return updated

    client._metadata_update = with_pause  # noqa: SLF001
