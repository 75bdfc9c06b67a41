"""The agent of an improver: one rejected verdict in, one improvement out."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import structlog
from cachetools import LRUCache
from prometheus_client import Counter, Histogram
from pydantic import ValidationError

from agents.budgets import Budgets
from agents.listener import Listener
from agents.runtime import Runtime
from checkers.model_patience import blamed
from checkers.plugin import Improver
from models.protocol import ModelUnavailable
from models.work import SingleFlight, observed_waits
from schemas import Generation, Improvement, Unreadable, Verdict, explain
from streams.lookup import LookupFailed, RecordGone, RecordLookup
from streams.messages import Hold, Incoming, Outgoing, improvement_message
from streams.metrics import StreamMetrics

_NAME = "improver"

_REMEMBERED = 20_000
"""Verdict ids remembered to recognise repeats: a checker's worker that is killed repeats at most its window of 4,096
records a partition. Some 3 MB."""

_LOOKUP_HOLD_SECONDS = 1.0

# From sentences that are all in the cache to ten rounds of a slow writer.
_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300)

_ROUNDS = (0, 1, 2, 3, 5, 10)

_log = structlog.get_logger(__name__)


class ImproverMetrics:
    def __init__(self, metrics: StreamMetrics) -> None:
        self._metrics = metrics
        counter, histogram = partial(Counter, registry=metrics.registry), partial(Histogram, registry=metrics.registry)
        self._improvements = counter(
            "assay_improvements",
            "Rejected responses that the improver has dealt with, by what came of it",
            ["source", "model", "status"],
        )
        self._skipped = counter(
            "assay_improver_skipped",
            "Rejected verdicts that were not improved: of another checker, of the past, or improved before",
            ["reason"],
        )
        self._rounds = histogram("assay_improver_rounds", "Rounds of rewriting that one response took", buckets=_ROUNDS)
        self._seconds = histogram(
            "assay_improver_duration_seconds",
            "Time of improving one response, without waiting for its turn",
            buckets=_SECONDS,
        )

    def improved(self, improvement: Improvement) -> None:
        """Count a delivered improvement of any status."""
        subject = self._metrics.subject(improvement.source, improvement.model)
        self._improvements.labels(*subject, improvement.status).inc()
        self._rounds.observe(len(improvement.rounds))
        self._seconds.observe(improvement.usage.seconds)

    def skip(self, reason: Literal["other_checker", "rechecked", "repeat"]) -> None:
        self._skipped.labels(reason).inc()


class ImproverAgent(Listener):
    """Publishes improvements of rejected responses."""

    def __init__(self, improver: Improver, runtime: Runtime, *, budgets: Budgets | None = None) -> None:
        """Without `budgets` nothing is limited."""
        topics = runtime.settings.topics
        self._lookup = RecordLookup(runtime.settings)
        # The records' topic is not written to, but must be there.
        writes = (topics.improved, topics.outputs)
        super().__init__(_NAME, topics.rejected, self._handle, runtime, writes=writes, needs=[self._lookup])
        self._improver = improver
        self._budgets = budgets or Budgets()
        self._topics = topics
        self._counts = ImproverMetrics(runtime.metrics)
        self._flights: SingleFlight[Improvement] = SingleFlight()
        self._delivered: LRUCache[str, None] = LRUCache(_REMEMBERED)

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing] | None:
        verdict = _read(incoming.value)
        if not self._improver.takes(verdict):
            self._counts.skip("other_checker")
            return None
        if verdict.rechecked:
            self._counts.skip("rechecked")
            return None
        if verdict.id in self._delivered:
            self._counts.skip("repeat")
            return None
        try:
            # Several messages may carry the same verdict at the same time.
            with observed_waits(incoming.slot.queue, incoming.slot.give_up):
                improvement = await self._flights.join(verdict.id, partial(self._improvement, verdict)).result()
        except ModelUnavailable as error:
            given_up = self._improver.not_tried(verdict, f"Not rewritten: {blamed(error)}.")
            otherwise = partial(self._answer, given_up) if error.suspect else None
            raise Hold(error.retry_after, otherwise=otherwise) from error
        return self._answer(improvement)

    def _answer(self, improvement: Improvement) -> Sequence[Outgoing]:
        message = improvement_message(improvement, self._topics)
        message.on_delivered = lambda: self._note(improvement)
        return (message,)

    async def _improvement(self, verdict: Verdict) -> Improvement:
        try:
            limit_reached = self._budgets.exhausted(_NAME)
            found = await self._record(verdict) if limit_reached is None else f"Not rewritten, as {limit_reached}."
            if isinstance(found, str):
                improvement = self._improver.not_tried(verdict, found)
            else:
                with self._budgets.booked(_NAME):
                    improvement = await self._improver.improve(found, verdict)
        except LookupFailed as error:
            raise Hold(_LOOKUP_HOLD_SECONDS) from error
        _log.debug("improvement", verdict_id=verdict.id, improvement_id=improvement.id, status=improvement.status)
        return improvement

    async def _record(self, verdict: Verdict) -> Generation | str:
        """The rejected record, or a sentence that says why it is not available."""
        try:
            record = (await self._lookup.record(verdict.origin, verdict.source, verdict.record_id)).record
        except RecordGone as gone:
            return str(gone)
        return record if isinstance(record, Generation) else "The record is not a response that could be rewritten."

    def _note(self, improvement: Improvement) -> None:
        known = improvement.verdict_id in self._delivered
        self._delivered[improvement.verdict_id] = None
        if known:
            self._counts.skip("repeat")
        else:
            self._counts.improved(improvement)


def _read(data: bytes | None) -> Verdict:
    if not data:
        raise Unreadable("empty", "the message is empty; expected a verdict")
    try:
        return Verdict.model_validate_json(data)
    except ValidationError as error:
        raise Unreadable("invalid_record", f"no verdict: {explain(error)}") from None
