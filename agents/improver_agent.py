"""The agent of an improver: one rejected verdict in, one improvement out."""

from collections.abc import Sequence
from functools import partial

from cachetools import LRUCache
from prometheus_client import Histogram

from agents.routing import Budgets
from agents.runtime import Listener, Runtime, read_verdict
from checkers.model_patience import blamed
from checkers.plugin import Improver
from models.protocol import ModelUnavailable
from models.work import Flight, joined, observed_waits
from schemas import Generation, Improvement, Verdict
from streams.errors import BrokerUnavailable
from streams.lookup import RecordGone, RecordLookup
from streams.messages import Hold, Incoming, Outgoing, improvement_message

_NAME = "improver"
_REMEMBERED = 20_000  # Verdict ids, to recognise repeats: a worker that is killed repeats at most 4,096 a partition.
_LOOKUP_HOLD_SECONDS = 1.0
_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300)
_ROUNDS = (0, 1, 2, 3, 5, 10)


class ImproverAgent(Listener):
    """Publishes improvements of rejected responses."""

    def __init__(self, improver: Improver, runtime: Runtime, *, budgets: Budgets | None = None) -> None:
        """Without `budgets` nothing is limited."""
        self._topics = topics = runtime.settings.topics
        self._lookup = RecordLookup(runtime.settings)
        # The records' topic is not written to, but must be there.
        writes = (topics.improved, topics.outputs)
        super().__init__(_NAME, topics.rejected, self._handle, runtime, writes=writes, needs=[self._lookup])
        self._improver, self._budgets = improver, budgets or Budgets()
        said = "Rejected responses that the improver has dealt with, by what came of it"
        self._improvements = runtime.counter("assay_improvements", said, "source", "model", "status")
        said = "Rejected verdicts that were not improved: of another checker, of the past, or improved before"
        self._skipped = runtime.counter("assay_improver_skipped", said, "reason")
        histogram = partial(Histogram, registry=runtime.metrics.registry)
        said = "Rounds of rewriting that one response took"
        self._rounds = histogram("assay_improver_rounds", said, buckets=_ROUNDS)
        said = "Time of improving one response, without waiting for its turn"
        self._seconds = histogram("assay_improver_duration_seconds", said, buckets=_SECONDS)
        self._flights: dict[str, Flight[Improvement]] = {}
        self._delivered: LRUCache[str, None] = LRUCache(_REMEMBERED)

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing] | None:
        verdict = read_verdict(incoming)
        reasons = {
            "other_checker": not self._improver.takes(verdict),
            "rechecked": verdict.rechecked,
            "repeat": verdict.id in self._delivered,
        }
        if any(reasons.values()):
            self._skipped.labels(next(reason for reason, holds in reasons.items() if holds)).inc()
            return None
        try:
            # Several messages may carry the same verdict at the same time.
            with observed_waits(incoming.slot.queue, incoming.slot.give_up):
                improvement = await joined(self._flights, verdict.id, partial(self._improvement, verdict)).result()
        except ModelUnavailable as error:
            given_up = self._improver.not_tried(verdict, f"Not rewritten: {blamed(error)}.")
            otherwise = partial(self._answer, given_up) if error.suspect else None
            raise Hold(error.retry_after, otherwise=otherwise) from error
        return self._answer(improvement)

    def _answer(self, improvement: Improvement) -> Sequence[Outgoing]:
        message = improvement_message(improvement, self._topics)
        message.on_delivered = partial(self._on_delivered, improvement)
        return (message,)

    async def _improvement(self, verdict: Verdict) -> Improvement:
        not_tried = partial(self._improver.not_tried, verdict)
        if (limit_reached := self._budgets.exhausted(_NAME)) is not None:
            return not_tried(f"Not rewritten, as {limit_reached}.")
        try:
            _, record = await self._lookup.record(verdict.origin, verdict.source, verdict.record_id)
        except RecordGone as gone:
            return not_tried(str(gone))
        except BrokerUnavailable as error:
            raise Hold(_LOOKUP_HOLD_SECONDS) from error
        if not isinstance(record, Generation):
            return not_tried("The record is not a response that could be rewritten.")
        with self._budgets.booked(_NAME):
            return await self._improver.improve(record, verdict)

    def _on_delivered(self, improvement: Improvement) -> None:
        if improvement.verdict_id in self._delivered:
            self._skipped.labels("repeat").inc()
            return
        self._delivered[improvement.verdict_id] = None
        subject = self._runtime.metrics.subject(improvement.source, improvement.model)
        self._improvements.labels(*subject, improvement.status).inc()
        self._rounds.observe(len(improvement.rounds))
        self._seconds.observe(improvement.usage.seconds)
