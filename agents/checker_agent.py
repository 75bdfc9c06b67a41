"""The agent of a checker: one record in, one verdict out. Every checker gets it, third parties' included."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import orjson
from prometheus_client import CollectorRegistry

from agents.monitor.outcomes import METADATA
from agents.routing import Budgets, RoutingSettings, read_head
from agents.runtime import Listener, Runtime
from agents.sessions import Sessions
from checkers.checker import Checker, unclaimed
from checkers.model_patience import blamed
from checkers.plugin import SubjectLabels, VerdictCount
from models.protocol import ModelUnavailable
from models.work import observed_waits
from schemas import Envelope, Generation, Origin, Trace, Unreadable, Verdict, attributes_of, read_record
from streams.admission import Slot, Slots
from streams.clients import Received
from streams.messages import Hold, Incoming, Outgoing, recheck_of, subject_key, verdict_message
from streams.metrics import LeftOut
from streams.settings import TopicSettings
from streams.takeover import Takeover

_MOST_TRIES = 20  # Of a conversation on which the judge fails while it answers others: some two minutes.
_READ_ALL_THE_SAME = 0.01  # The part of skipped records that is read in full, so that a producer's mistakes show.
_MAX_REASON = 500  # Code points of a rejected verdict's reason that are kept for an alert.
_MAX_PART = 256  # Code points of a part of a version that are compared, and shown in an event.
_COPIED = {"source", "model", "checker", "record_id", "score", "checked_at", "origin", "share", "kind"}

_PassedOver: TypeAlias = tuple[str, LeftOut | None, str, str]  # Kind, reason, source and model; the latter by a rule.


class CheckerAgent(Listener):
    """Checks each record of the checker's kinds on the outputs topic, and publishes the verdict.

    A record that routing leaves out is counted and has no verdict; if the budget is spent, the verdict abstains.
    """

    def __init__(
        self,
        checker: Checker[Any],
        runtime: Runtime,
        *,
        routing: RoutingSettings | None = None,
        budgets: Budgets | None = None,
        answers_for: Mapping[str, Collection[str]] | None = None,
        count: Callable[[CollectorRegistry, SubjectLabels], VerdictCount] | None = None,
        counts: Collection[str] = (),
    ) -> None:
        """`answers_for`: the kinds that each of the other checkers takes, if this one answers what none of them can.

        That is an unreadable message, with a dead letter, and a record of another kind, with an abstention. `count`
        builds what counts its verdicts besides. `counts` are the kinds whose records it counts for all checkers.
        """
        topics = runtime.settings.topics
        self._checker, self._settings, self._answers_for = checker, runtime.settings, answers_for
        self._routing, self._budgets = routing or RoutingSettings(), budgets or Budgets()
        self._max_bytes = runtime.settings.records.max_bytes
        self._counts = counts
        runtime.metrics.begin_checker(checker.name, counts)
        self._count = None if count is None else count(runtime.metrics.registry, runtime.metrics.subject)
        self._own_kinds = [orjson.dumps(kind) for kind in checker.kinds]
        self._taken_in: set[Incoming] = set()  # Counted, and without an answer yet.
        self._ending: dict[str, int] = {}  # Conversations that have ended, with the tries that failed so far.
        on_end = self._conversation_ended if checker.unit == "conversation" else None
        self._sessions = sessions = Sessions(checker, runtime, on_end) if checker.turns else None
        self._ending_sessions: asyncio.Task[None] | None = None
        verdicts = (topics.accepted, topics.rejected, topics.abstained)
        super().__init__(
            checker.name,
            topics.outputs,
            self._handle,
            runtime,
            writes=(*verdicts, topics.outcomes, *([topics.session_state] if sessions else [])),
            screen=self._skipped_ahead,
            on_ended=self._ended,
            in_flight=lambda: len(self._taken_in),
            takeover=Takeover(
                checker.name,
                topics.outputs,
                (*verdicts, topics.dead_letter),
                runtime.settings,
                follows=topics.outcomes,
                follow_up=partial(missing_outcome, topics),
                restore=sessions.take_over if sessions else None,
            ),
        )

    async def start(self) -> None:
        await super().start()
        if self._sessions is not None:
            ending = self._sessions.run(self._app, self._delivery.take_over)
            self._ending_sessions = self._runtime.run(self.name, ending)

    async def stop(self) -> None:
        if self._ending_sessions is not None:
            self._ending_sessions.cancel()
        await super().stop()

    def passed_over(self, value: bytes | None, headers: Sequence[tuple[str, bytes]]) -> _PassedOver | None:
        """Skip by the record's head what is left out or of another kind, and for which nobody else waits."""
        if value is None or (not self._routing.rules and any(kind in value for kind in self._own_kinds)):
            return None
        # Of a session, what is left out was said, too.
        is_turn = self._checker.turns > 0 and b'"session"' in value
        # No rule holds for what is checked again.
        if is_turn or recheck_of(headers) is not None or (head := read_head(value, self._max_bytes)) is None:
            return None
        reason = None
        if head.kind in self._checker.kinds and (reason := self._routing.left_out(self._checker.name, head)) is None:
            return None
        if self._answers_for is not None:
            takers = [name for name, kinds in self._answers_for.items() if head.kind in kinds]
            if not (takers or reason) or any(self._routing.left_out(name, head) is None for name in takers):
                return None
        if reason is None:
            return head.kind, None, "", ""
        if random.random() < _READ_ALL_THE_SAME:  # noqa: S311
            try:
                read_record(value, max_bytes=self._max_bytes)
            except Unreadable:
                self._metrics.left_out_invalid.labels(self.name).inc()
        return head.kind, reason, head.source, head.model

    def _skipped_ahead(self, records: Iterable[Received]) -> int:
        """Count those of these messages that are skipped before the first that is not."""
        skipped: Counter[_PassedOver] = Counter()
        for record in records:
            if (one := self.passed_over(record.value, record.headers)) is None:
                break
            skipped[one] += 1
        for (kind, reason, source, model), number in skipped.items():
            if reason is None:
                self._metrics.skipped.labels(self.name, kind).inc(number)
            else:
                self._metrics.record(self.name, kind, self._counts, number=number)
                self._metrics.leave_out(self.name, reason, source, model, number)
        return skipped.total()

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing] | None:
        try:
            record = read_record(incoming.value, max_bytes=self._max_bytes)
        except Unreadable:
            if self._answers_for is not None:
                raise
            self._metrics.skipped.labels(self.name, "unreadable").inc()
            return None
        if record.trace is None and (trace := Trace.of_headers(incoming.headers)):
            record = record.model_copy(update={"trace": trace})
        if self._sessions is not None and isinstance(record, Generation) and record.session is not None:
            record = record.after(self._sessions.follow(incoming, record))
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        if kind not in self._checker.kinds or incoming.recheck not in {None, self._checker.name}:
            self._metrics.skipped.labels(self.name, kind).inc()
            return self._not_taken(record, kind, incoming)
        if self._checker.unit == "conversation":
            # It is a turn, and the session's end is waited for.
            self._metrics.skipped.labels(self.name, kind).inc()
            return None
        reason = None if incoming.recheck else self._routing.left_out(self._checker.name, record)
        if incoming.attempt == 1:
            self._metrics.record(self.name, kind, () if incoming.recheck else self._counts, misspelt=record.misspelt)
            if reason is None:
                self._taken_in.add(incoming)
        if reason is not None:
            self._metrics.leave_out(self.name, reason, record.source, record.model)
            return None
        return await self._check(record, incoming)

    async def _conversation_ended(self, record: Generation, at: Origin) -> Sequence[Outgoing] | None:
        """The verdict on a conversation whose last turn is there; None if it is to be asked for again later."""
        incoming = Incoming(at.topic, at.partition, at.offset, None, None, Slot(Slots(1)))
        if (reason := self._routing.left_out(self._checker.name, record)) is not None:
            self._metrics.leave_out(self.name, reason, record.source, record.model)
            return ()
        if (tries := self._ending.pop(record.id, 0)) == 0:
            self._metrics.record(self.name, record.kind, self._counts)
        try:
            return await self._check(record, incoming)
        except Hold as hold:
            if hold.otherwise is not None and tries + 1 >= _MOST_TRIES:
                return hold.otherwise()
            self._ending[record.id] = tries + 1
            return None

    def _not_taken(self, record: Envelope, kind: str, incoming: Incoming) -> Sequence[Outgoing] | None:
        others = self._answers_for
        if others is None or kind in self._checker.kinds or any(kind in kinds for kinds in others.values()):
            return None
        verdict = unclaimed(record, f"no running checker takes the kind {kind!r}")
        message = verdict_message(verdict.model_copy(update={"origin": incoming.origin}), self._settings.topics)
        message.on_delivered = self._metrics.unclaimed_records.labels(kind).inc
        return (message,)

    async def _check(self, record: Envelope, incoming: Incoming) -> Sequence[Outgoing]:
        checker = self._checker
        exhausted = self._budgets.exhausted(checker.name)
        try:
            with observed_waits(incoming.slot.queue, incoming.slot.give_up), self._budgets.booked(checker.name):
                verdict = await (checker.check(record) if exhausted is None else checker.check_free(record))
        except ModelUnavailable as error:
            given_up = partial(self._answer, checker.abstain(record, "judge_failed", blamed(error)), record, incoming)
            otherwise = given_up if error.suspect else None
            raise Hold(error.retry_after, otherwise=otherwise, others_pass=error.others_pass) from error
        if verdict is None:
            abstention = checker.abstain(record, "budget", exhausted or "")
            return self._answer(abstention, record, incoming, checked=False)
        self._metrics.seconds.labels(self.name).observe(verdict.usage.seconds)
        return self._answer(verdict, record, incoming)

    def _answer(
        self, verdict: Verdict, record: Envelope, incoming: Incoming, *, checked: bool = True
    ) -> Sequence[Outgoing]:
        """The verdict's message, and behind it its outcome, unless it abstains or is a recheck."""
        keys, topics = self._settings.records.version_metadata, self._settings.topics
        rechecked = incoming.recheck is not None
        drawn = self._checker.name, record.source, record.model, record.tenant
        own = {
            "origin": incoming.origin,
            "metadata": {key: record.metadata[key] for key in keys if key in record.metadata},
            "share": 1.0 if rechecked else self._routing.share(*drawn),
            "rechecked": rechecked,
            "kind": record.kind,  # type: ignore[attr-defined]
        }
        verdict = verdict.model_copy(update=own)

        def delivered() -> None:
            self._ended(incoming, True)
            self._metrics.verdict(self.name, verdict)
            if self._count is not None and not rechecked:
                self._count(verdict)
            if not checked:
                self._metrics.leave_out(self.name, "budget", verdict.source, verdict.model)

        message = verdict_message(verdict, topics)
        message.on_delivered = delivered
        if verdict.outcome != "abstain" and not rechecked:
            # An alert names the verdict's position, which is known once it is written. Accepts could go at once, and
            # would overtake the rejects before them: those would come many in a row, which looks like a drop.
            message.then = partial(outcome_message, verdict, topics)
        return (message,)

    def _ended(self, incoming: Incoming, answered: bool) -> None:
        """Note it once: a record may be given back between its verdict's acknowledgement and the outcome's."""
        if incoming in self._taken_in:
            self._taken_in.remove(incoming)
            if not answered:
                self._metrics.given_back.labels(self.name).inc()


def missing_outcome(topics: TopicSettings, answer: bytes, position: Origin) -> Outgoing | None:
    """The outcome of an answer at `position`, written by a worker that ended before it; None if it has none."""
    if position.topic not in (topics.accepted, topics.rejected):
        return None
    verdict = Verdict.model_validate_json(answer)
    return None if verdict.rechecked else outcome_message(verdict, topics, position)


def outcome_message(verdict: Verdict, topics: TopicSettings, position: Origin | None = None) -> Outgoing:
    """The message of a verdict's outcome; the verdict is at `position`, and does not abstain."""
    copied = verdict.model_dump(include=_COPIED)
    rejected = {name: copied[name] for name in ("record_id", "checked_at", "origin")} | {
        "verdict_id": verdict.id,
        "reason": verdict.reason[:_MAX_REASON],
        "verdict_origin": position and position.model_dump(),
    }
    version = {
        "checker_version": verdict.checker_version,
        "config_digest": verdict.config_digest,
        # Either judge of a cascade may have decided: that is not a change.
        "judge": " > ".join(verdict.cascade.judges if verdict.cascade else (verdict.judge,))[:_MAX_PART],
    }
    for name, value in verdict.metadata.items():
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        version[f"{METADATA}{name}"[:_MAX_PART]] = text[:_MAX_PART]
    outcome = copied | {
        "verdict_id": verdict.id,
        "version": version,
        "moment": verdict.occurred_at or verdict.checked_at,
        "rejected": None if verdict.outcome == "accept" else rejected,
        "attributes": [list(one) for one in sorted(attributes_of(verdict))],
    }
    key = subject_key(verdict.source, verdict.model)
    return Outgoing(topics.outcomes, key, orjson.dumps(outcome, option=orjson.OPT_UTC_Z), [])
