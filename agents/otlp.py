"""OpenTelemetry in and out: readers of the topics that a collector's Kafka exporter writes, an exporter of verdicts."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Final, get_args

import structlog
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from agents.runtime import AgentFactory, Listener, Runtime, read_verdict
from agents.webhooks import AT_ONCE, Target, WebhookReply
from schemas import Unreadable
from streams.messages import Hold, Incoming, Outgoing, record_message
from streams.otlp.decoding import Signal, read_request
from streams.otlp.evaluations import evaluation, request_of
from streams.otlp.messages import SkipReason
from streams.otlp.records import Made, RecordMaker
from streams.otlp.settings import OtlpSettings

_SIGNALS: Final[dict[str, Signal]] = {"otlp-spans": "traces", "otlp-logs": "logs"}
_EXPORTER: Final = "otlp-exporter"

_LARGEST_RECORD: Final = 1_000_000
"""Bytes that a broker takes by default, less the headers: one that it refuses would take its whole batch with it."""

_MOST = 100  # Events of a request: most endpoints take megabytes, these are some hundred kilobytes at most.
_GATHER_SECONDS = 0.1  # An event waits so long for others to be sent with.
_PAUSE_SECONDS = 5.0  # Between tries of an endpoint that does not say when to come back.
_LONGEST_TRIAL_SECONDS = 60.0

_log = structlog.get_logger(__name__)


def otlp_agents(settings: OtlpSettings, names: Collection[str]) -> list[AgentFactory]:
    """Those with these names; what one has seen of a trace, the others know."""
    intake = cache(partial(Intake, settings))
    topics = {f"otlp-{kind}": topic for kind, topic in settings.topics.items()}
    readers = [partial(OtlpTopic, name, topic, intake) for name, topic in topics.items() if name in names]
    verdicts = ("accepted", "rejected", "abstained") if _EXPORTER in names else ()
    return [*readers, *(partial(Exporter, settings, topic) for topic in verdicts)]


class Intake:
    """Makes records, one request after the other: calls find the documents of requests before theirs."""

    def __init__(self, settings: OtlpSettings, runtime: Runtime) -> None:
        most = min(runtime.settings.records.max_bytes, _LARGEST_RECORD)
        self._records = runtime.counter("assay_otlp_records", "Records made of spans and log records")
        said = "Spans and log records that became no record"
        self._left_out = runtime.counter("assay_otlp_left_out", said, "reason", values=get_args(SkipReason))
        self._maker = RecordMaker(settings, max_bytes=most)
        # A request may be 16 MB, and verdicts wait for the event loop.
        self._thread = ThreadPoolExecutor(1, "otlp")

    async def made(self, data: bytes, signal: Signal) -> Made:
        """The records of a request, else raises `Unreadable`. Concurrent calls are served in order, one at a time."""
        made = await asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: self._maker.make(read_request(data, signal))
        )
        self._records.inc(len(made.records))
        for reason, number in made.left_out.items():
            self._left_out.labels(reason).inc(number)
        return made


class OtlpTopic(Listener):
    """Reads a collector's topic: a message is done when all records made of it are on the outputs topic."""

    def __init__(self, name: str, topic: str, intake: Callable[[Runtime], Intake], runtime: Runtime) -> None:
        self._topics = runtime.settings.topics
        super().__init__(name, topic, self._handle, runtime, writes=(self._topics.outputs,))
        self._signal, self._intake = _SIGNALS[name], intake(runtime)

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing]:
        if not incoming.value:
            raise Unreadable("empty", f"the message is empty; expected an OTLP request of {self._signal}")
        made = await self._intake.made(incoming.value, self._signal)
        return [record_message(record, self._topics) for record in made.records]


class Exporter(Listener):
    """A verdict is done when the endpoint has taken it, or refuses it for good: then it is a dead letter.

    Events are sent together; of a request that is refused each is sent alone, as one may be at fault.
    """

    def __init__(self, settings: OtlpSettings, topic: str, runtime: Runtime) -> None:
        source, self._target = getattr(runtime.settings.topics, topic), Target(settings.logs_url or "")
        trial, needs = _LONGEST_TRIAL_SECONDS, [self._target]
        super().__init__(f"{_EXPORTER}-{topic}", source, self._handle, runtime, trial_seconds=trial, needs=needs)
        self._explained = settings.explanations
        said, outcomes = "Verdicts sent to the OTLP endpoint, by its reply", ("taken", "failed", "refused")
        self._exported = runtime.counter("assay_otlp_exported", said, "outcome", values=outcomes)
        self._headers = {"content-type": "application/x-protobuf", "user-agent": "assay", **settings.request_headers}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._gathered: list[tuple[LogRecord, asyncio.Future[WebhookReply]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing]:
        verdict = read_verdict(incoming)
        replied: asyncio.Future[WebhookReply] = asyncio.get_running_loop().create_future()
        self._gathered.append((evaluation(verdict, explained=self._explained), replied))
        if len(self._gathered) == 1:
            task = self._runtime.run(self.name, self._send())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        reply = await replied
        self._exported.labels(reply.outcome).inc()
        if reply.outcome == "failed":
            _log.warning("verdict not exported, it waits", agent=self.name, id=verdict.id, reply=reply.detail)
            raise Hold(_PAUSE_SECONDS if reply.retry_after is None else reply.retry_after)
        if reply.outcome == "refused":
            raise Unreadable("undeliverable", f"the endpoint of otlp.endpoint: {reply.detail}")
        return ()

    async def _send(self) -> None:
        await asyncio.sleep(_GATHER_SECONDS)
        gathered, self._gathered = self._gathered, []
        # Those that are not waited for any more come back.
        while batch := [(event, replied) for event, replied in gathered[:_MOST] if not replied.done()]:
            del gathered[:_MOST]
            reply = await self._posted([event for event, _ in batch])
            for event, replied in batch:
                one = await self._posted([event]) if reply.outcome == "refused" and len(batch) > 1 else reply
                if not replied.done():
                    replied.set_result(one)

    async def _posted(self, events: Sequence[LogRecord]) -> WebhookReply:
        async with self._places:
            return await self._target.post(request_of(events), self._headers)
