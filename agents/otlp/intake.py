"""Records made of what arrives by OTLP on the topics that a collector's Kafka exporter writes."""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter

from agents.listener import Listener
from agents.runtime import Runtime
from schemas import Envelope, Unreadable
from streams.messages import Incoming, Outgoing, record_message
from streams.otlp.decoding import Malformed, Signal, read_request
from streams.otlp.messages import SkipReason
from streams.otlp.records import Made, RecordMaker
from streams.otlp.settings import OtlpSettings

_LARGEST_RECORD: Final = 1_000_000
"""Bytes that a broker takes by default, less the headers: one that it refuses would take its whole batch with it."""

_SMALL: Final = 16_384
"""Bytes that are read sooner than they are handed to a thread."""


class OtlpMetrics:
    """Counts of what became of spans, log records and verdicts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, registry=registry)
        self.records = counter("assay_otlp_records", "Records made of spans and log records")
        self.left_out = counter("assay_otlp_left_out", "Spans and log records that became no record", ["reason"])
        for reason in get_args(SkipReason):
            # Prometheus sees no increase in a series that begins at 1.
            self.left_out.labels(reason)
        self.exported = counter("assay_otlp_exported", "Verdicts sent to the OTLP endpoint, by its reply", ["outcome"])
        for outcome in ("taken", "failed", "refused"):
            self.exported.labels(outcome)


# A registry takes each metric once, however many agents there are.
metrics_on = cache(OtlpMetrics)


class Intake:
    """Makes records, one request after the other: calls find the documents of requests before theirs."""

    def __init__(self, settings: OtlpSettings, runtime: Runtime) -> None:
        most = min(runtime.settings.records.max_bytes, _LARGEST_RECORD)
        self.metrics = metrics_on(runtime.metrics.registry)
        self._maker = RecordMaker(settings, max_bytes=most)
        self._topics = runtime.settings.topics
        # In a thread, as verdicts wait for the event loop: a request may be 16 MB.
        self._thread = ThreadPoolExecutor(1, "otlp")
        self._handed_over: Future[Made] | None = None

    async def made(self, data: bytes, signal: Signal) -> Made:
        """The records of a request. Concurrent calls are served in order, one at a time.

        Raises:
            Malformed: it is not a request.
        """

        def make() -> Made:
            return self._maker.make(read_request(data, signal))

        idle = self._handed_over is None or self._handed_over.done()
        if idle and len(data) <= _SMALL:
            made = make()
        else:
            self._handed_over = self._thread.submit(make)
            # The caller may be cancelled; what is begun ends first, before the next.
            made = await asyncio.shield(asyncio.wrap_future(self._handed_over))
        self.metrics.records.inc(len(made.records))
        for reason, number in made.left_out.items():
            self.metrics.left_out.labels(reason).inc(number)
        return made

    def messages(self, records: Iterable[Envelope]) -> list[Outgoing]:
        return [record_message(record, self._topics) for record in records]


class OtlpTopic(Listener):
    """Reads a collector's topic: a message is done when all records made of it are on the outputs topic."""

    def __init__(self, name: str, topic: str, signal: Signal, intake: Intake, runtime: Runtime) -> None:
        super().__init__(name, topic, self._handle, runtime, writes=(runtime.settings.topics.outputs,))
        self._signal = signal
        self._intake = intake

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing]:
        if not incoming.value:
            raise Unreadable("empty", f"the message is empty; expected an OTLP request of {self._signal}")
        try:
            made = await self._intake.made(incoming.value, self._signal)
        except Malformed as error:
            raise Unreadable("invalid_record", f"{error}") from None
        return self._intake.messages(made.records)
