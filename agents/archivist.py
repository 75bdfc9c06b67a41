"""The archivist: an agent that writes verdicts, what follows from them, and what people say of them to the store."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain
from typing import Final, TypeVar

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError
from pydantic import ValidationError

from agents.runtime import GroupReader, Runtime, first_unread
from schemas import Calibration, DeadLetter, Improvement, Label, ReviewRequest, Unreadable, read_record
from store.opening import StoreAway, StoreError, open_store, sole_archivist
from store.reading import read_alert, read_verdict
from store.redaction import Redaction
from store.retention import prune
from store.settings import StoreSettings
from store.writing import Fenced, Message, Place, StoreWriter, TableEntry, behind
from streams.clients import Consumer, Received, admin
from streams.errors import StreamError
from streams.settings import StreamSettings

NAME: Final = "archivist"
_KINDS = ("verdict", "alert", "improvement", "record", "dead_letter", "review_request", "label", "calibration")
_BATCH: Final = 1000  # Messages of one transaction at most: some 0.2 s of work, in a separate thread.
_BATCH_BYTES: Final = 4_194_304
_GATHER_SECONDS: Final = 0.5  # A message waits so long for others: one alone costs as much as a hundred.
_POLL_SECONDS: Final = 0.2
_PAUSE_SECONDS: Final = 1.0  # Between tries while the store or the broker is away.
_PRUNE_EVERY_SECONDS: Final = 60.0

_T = TypeVar("_T")

_log = structlog.get_logger(__name__)


class Archivist(GroupReader):
    """Keeps each message once, even if workers are killed or thought dead.

    A transaction holds what is kept of some messages and the offsets behind them, and is refused where those in the
    store are not the ones that were read: another archivist then has the partitions. After taking a partition over, or
    a transaction of unknown result, the offsets are read again. While the store is away, nothing more is fetched.
    """

    name = NAME

    def __init__(self, settings: StoreSettings, runtime: Runtime) -> None:
        self._readers = _readers(runtime.settings, records=settings.records)
        super().__init__(runtime, reads=tuple(self._readers))
        self._settings, self._url = settings, settings.url or ""
        said = "Messages that the archivist wrote to the store"
        self._archived = runtime.counter("assay_archived", said, "kind", values=_KINDS)
        said = "Messages that the archivist could not read, or the database refused"
        self._passed_over = runtime.counter("assay_archive_passed_over", said)
        said = "Attempts to reach or to write to the store that failed"
        self._failures = runtime.counter("assay_archive_failures", said)
        runtime.metrics.watch(
            self.name, in_flight=lambda: len(self._gathered), held=lambda: 0, paused=lambda: self._away is not None
        )
        self._gathered: list[Received] = []  # Fetched, and not kept yet.
        self._away: str | None = None  # Why the store cannot be written to.
        self._cluster = ""
        self._writer: StoreWriter | None = None
        self._thread, self._closing = ThreadPoolExecutor(1, NAME), ExitStack()
        self._progress: dict[Place, int] = {}  # As it is in the store, of the partitions that are taken over.
        self._prune_at = 0.0

    @property
    def _offsets(self) -> Mapping[TopicPartition, int]:
        return {TopicPartition(*place): offset for place, offset in self._progress.items()}

    async def start(self) -> None:
        """Open the store and ask to join the group. A database that does not answer is waited for."""
        async with admin(self._runtime.settings.kafka) as client:
            self._cluster = (await client.describe_cluster())["cluster_id"]
        try:
            self._closing.enter_context(sole_archivist(self._url))
            await self._open()
        except StoreError as error:
            self._closing.close()
            raise StreamError(str(error)) from None
        except StoreAway as error:
            self._tell_away(error)
        await super().start()

    async def stop(self) -> None:
        """Finish the transaction under way, then leave the group."""
        if self._running is not None:
            self._running.cancel()
        await asyncio.to_thread(self._thread.shutdown)
        self._closing.close()
        await super().stop()

    async def ready(self) -> str | None:
        return await super().ready() if self._away is None else f"cannot write to the store: {self._away}"

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        """Forget them; a transaction under way goes through or is refused, and the next owner sees which."""
        await super().on_partitions_revoked(revoked)
        self._progress = {}

    async def _run(self, consumer: Consumer) -> None:
        while True:
            try:
                writer = self._writer or await self._open()
                if self._assigned != self._offsets.keys():
                    await self._take_over(consumer, writer)
                await self._keep(consumer, writer, await self._batch(consumer))
                await self._prune(writer)
            except Fenced:
                self._progress = {}
                _log.info("another archivist has written; its progress is read", agent=NAME)
            except KafkaError as error:
                if not error.retriable:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)
            except StoreAway as error:
                self._progress = {}
                self._tell_away(error)
                await asyncio.sleep(_PAUSE_SECONDS)
            except StoreError as error:
                raise StreamError(str(error)) from None
            else:
                if self._away is not None:
                    self._away = None
                    _log.info("the store can be written to again", agent=NAME)

    async def _open(self) -> StoreWriter:
        engine = await self._in_thread(lambda: open_store(self._url))
        self._closing.callback(engine.dispose)
        self._writer = StoreWriter(engine, Redaction(self._settings.redact), cluster=self._cluster)
        return self._writer

    def _tell_away(self, error: StoreAway) -> None:
        self._failures.inc()
        if self._away is None:
            _log.warning("the store cannot be written to", agent=NAME, error=str(error))
        self._away = str(error)

    async def _take_over(self, consumer: Consumer, writer: StoreWriter) -> None:
        assigned = self._assigned
        stored = await self._in_thread(lambda: writer.progress([(each.topic, each.partition) for each in assigned]))
        bounds = await self._bounds(assigned)
        if self._assigned is not assigned:
            # The group has reassigned them meanwhile.
            return
        for place, offset in stored.items():
            begin, end = bounds[TopicPartition(*place)]
            if 0 < offset < begin:
                _log.warning("messages are gone that were not kept", topic=place[0], messages=begin - offset)
            consumer.seek(TopicPartition(*place), first_unread(offset, begin, end))
        self._progress = stored

    async def _batch(self, consumer: Consumer) -> list[Received]:
        batch: list[Received] = []
        self._gathered = batch
        left, until = _POLL_SECONDS, None
        while left > 0 and len(batch) < _BATCH and sum(len(record.value or b"") for record in batch) < _BATCH_BYTES:
            fetched = await consumer.getmany(timeout_ms=int(left * 1000), max_records=_BATCH - len(batch))
            batch += chain.from_iterable(fetched.values())
            if not batch:
                break
            until = until or time.monotonic() + _GATHER_SECONDS
            left = until - time.monotonic()
        return batch

    async def _keep(self, consumer: Consumer, writer: StoreWriter, batch: Sequence[Received]) -> None:
        # Others come again: the next owner of their partition goes back.
        progress = self._progress
        mine = [record for record in batch if (record.topic, record.partition) in progress]
        if not mine:
            return
        entries, kept = await self._in_thread(lambda: self._written(writer, mine, progress))
        progress |= behind(entries)
        passed_over = kept.pop("unfit", 0) + sum(entry.message is None for entry in entries)
        if passed_over:
            self._passed_over.inc(passed_over)
            _log.warning("messages could not be read or kept", agent=NAME, messages=passed_over)
        for kind, number in kept.items():
            self._archived.labels(kind).inc(number)
        self._gathered = []
        # The store alone says where it reads on.
        with suppress(KafkaError, IllegalStateError):
            await consumer.commit({TopicPartition(*place): at for place, at in behind(entries).items()})

    def _written(
        self, writer: StoreWriter, batch: Sequence[Received], progress: Mapping[Place, int]
    ) -> tuple[list[TableEntry], dict[str, int]]:
        entries = []
        for record in batch:
            message, data = None, record.value or b""
            with suppress(ValidationError, Unreadable):
                message = self._readers[record.topic](data)
            entries.append(TableEntry((record.topic, record.partition), record.offset, data, message))
        return entries, writer.write(entries, progress)

    async def _prune(self, writer: StoreWriter) -> None:
        # A slice at a time: what arrives is written in between.
        due = time.monotonic() >= self._prune_at
        if due and not await self._in_thread(lambda: prune(writer.engine, self._settings)):
            self._prune_at = time.monotonic() + _PRUNE_EVERY_SECONDS

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _readers(settings: StreamSettings, *, records: bool) -> dict[str, Callable[[bytes], Message]]:
    """The reader of the messages of each topic."""
    topics = settings.topics
    readers: dict[str, Callable[[bytes], Message]] = {
        **dict.fromkeys((topics.accepted, topics.rejected, topics.abstained), read_verdict),
        topics.alerts: read_alert,
        topics.improved: Improvement.model_validate_json,
        topics.dead_letter: DeadLetter.model_validate_json,
        topics.review_requests: ReviewRequest.model_validate_json,
        topics.labels: Label.model_validate_json,
        topics.calibration: Calibration.model_validate_json,
    }
    if records:
        readers[topics.outputs] = partial(read_record, max_bytes=settings.records.max_bytes)
    return readers
