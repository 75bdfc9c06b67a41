"""The agent of a checker: one record in, one verdict out. Every checker gets it, third parties' included."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry

from agents.budgets import Budgets
from agents.listener import Listener
from agents.monitor.outcomes import missing_outcome, with_outcome
from agents.routing import Routing
from agents.runtime import Runtime
from agents.screen import RoutingScreen
from agents.sessions import Sessions
from checkers.checker import Checker, unclaimed
from checkers.model_patience import blamed
from checkers.plugin import SubjectLabels, VerdictCount
from models.protocol import EscalationUnavailable, ModelUnavailable
from models.work import observed_waits
from schemas import Envelope, Generation, Origin, Trace, Unreadable, Verdict, read_record
from streams.admission import Slot, Slots
from streams.messages import Hold, Incoming, Outgoing, verdict_message
from streams.takeover import Takeover

_MOST_TRIES = 20
"""Of a conversation on which the judge fails while it answers others: some two minutes, one in five seconds."""


class CheckerAgent(Listener):
    """Checks each record of the checker's kinds on the outputs topic, and publishes the verdict.

    A record that routing leaves out is counted and has no verdict. If the budget is spent, the verdict abstains: the
    record should have been checked, and someone may wait for its verdict.
    """

    def __init__(
        self,
        checker: Checker[Any],
        runtime: Runtime,
        *,
        routing: Routing | None = None,
        budgets: Budgets | None = None,
        checked_kinds: Collection[str] | None = None,
        others: Mapping[str, Collection[str]] | None = None,
        count: Callable[[CollectorRegistry, SubjectLabels], VerdictCount] | None = None,
        counts: Collection[str] = (),
    ) -> None:
        """Without `routing` it checks all records of its kinds; without `budgets` without a limit.

        One checker of a deployment gets `checked_kinds`, the kinds that any of its checkers takes: it also answers what
        none of them can, an unreadable message with a dead letter and a record of another kind with an abstention;
        `others` are the kinds that each of the others takes.
        `count` builds what counts its verdicts besides. `counts` are the kinds whose records it counts for all
        checkers.
        """
        topics = runtime.settings.topics
        self._checker, self._settings, self._checked_kinds = checker, runtime.settings, checked_kinds
        self._routing, self._budgets = routing or Routing(), budgets or Budgets()
        self._counts = runtime.metrics.checker(checker.name, counts)
        self._count = None if count is None else count(runtime.metrics.registry, runtime.metrics.subject)
        self._taken_in: set[Incoming] = set()
        """Records that are counted and have no answer yet."""
        self._ending: dict[str, int] = {}
        """Conversations that have ended, with the tries that failed so far."""
        on_end = self._conversation_ended if checker.unit == "conversation" else None
        sessions = Sessions(checker, runtime, on_end) if checker.turns else None
        verdicts = (topics.accepted, topics.rejected, topics.abstained)
        super().__init__(
            checker.name,
            topics.outputs,
            self._handle,
            runtime,
            writes=(*verdicts, topics.outcomes, *([topics.session_state] if sessions else [])),
            screen=RoutingScreen(
                checker,
                self._routing,
                self._counts,
                max_bytes=runtime.settings.records.max_bytes,
                answers_for=None if checked_kinds is None else others or {},
            ),
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
            sessions=sessions,
        )

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing] | None:
        try:
            record = read_record(incoming.value, max_bytes=self._settings.records.max_bytes)
        except Unreadable:
            if self._checked_kinds is not None:
                raise
            self._counts.skip("unreadable")
            return None
        if record.trace is None and (trace := Trace.of_headers(incoming.headers)):
            record = record.model_copy(update={"trace": trace})
        if self._sessions is not None and isinstance(record, Generation) and record.session is not None:
            record = record.after(self._sessions.follow(incoming, record))
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        if kind not in self._checker.kinds or incoming.recheck not in {None, self._checker.name}:
            self._counts.skip(kind)
            return self._not_taken(record, kind, incoming)
        if self._checker.unit == "conversation":
            # It is a turn, and the session's end is waited for.
            self._counts.skip(kind)
            return None
        reason = None if incoming.recheck else self._routing.left_out(self._checker.name, record)
        if incoming.attempt == 1:
            self._counts.record(kind, misspelt=record.misspelt, again=incoming.recheck is not None)
            if reason is None:
                self._taken_in.add(incoming)
        if reason is not None:
            self._counts.left_out(reason, record.source, record.model)
            return None
        return await self._check(record, incoming)

    async def _conversation_ended(self, record: Generation, at: Origin) -> Sequence[Outgoing] | None:
        """The verdict on a conversation whose last turn is there; None if it is to be asked for again later."""
        incoming = Incoming(at.topic, at.partition, at.offset, None, None, Slot(Slots(1)))
        if (reason := self._routing.left_out(self._checker.name, record)) is not None:
            self._counts.left_out(reason, record.source, record.model)
            return ()
        if (tries := self._ending.pop(record.id, 0)) == 0:
            self._counts.record(record.kind)
        try:
            return await self._check(record, incoming)
        except Hold as hold:
            if hold.otherwise is not None and tries + 1 >= _MOST_TRIES:
                return hold.otherwise()
            self._ending[record.id] = tries + 1
            return None

    def _not_taken(self, record: Envelope, kind: str, incoming: Incoming) -> Sequence[Outgoing] | None:
        if self._checked_kinds is None or kind in self._checked_kinds:
            return None
        verdict = unclaimed(record, f"no running checker takes the kind {kind!r}")
        message = verdict_message(verdict.model_copy(update={"origin": incoming.origin}), self._settings.topics)
        message.on_delivered = partial(self._runtime.metrics.unclaimed, kind)
        return (message,)

    async def _check(self, record: Envelope, incoming: Incoming) -> Sequence[Outgoing]:
        checker = self._checker
        exhausted = self._budgets.exhausted(checker.name)
        try:
            with observed_waits(incoming.slot.queue, incoming.slot.give_up), self._budgets.booked(checker.name):
                verdict = await (checker.check(record) if exhausted is None else checker.check_free(record))
        except ModelUnavailable as error:
            given_up = checker.abstain(record, "judge_failed", blamed(error))
            raise _hold(error, partial(self._answer, given_up, record, incoming)) from error
        if verdict is None:
            abstention = checker.abstain(record, "budget", exhausted or "")
            return self._answer(abstention, record, incoming, checked=False)
        self._counts.checked(verdict.usage.seconds)
        return self._answer(verdict, record, incoming)

    def _answer(
        self, verdict: Verdict, record: Envelope, incoming: Incoming, *, checked: bool = True
    ) -> Sequence[Outgoing]:
        keys = self._settings.records.version_metadata
        metadata = {key: record.metadata[key] for key in keys if key in record.metadata}
        rechecked = incoming.recheck is not None
        share = 1.0 if rechecked else self._routing.share(self._checker.name, record)
        own = {"origin": incoming.origin, "metadata": metadata, "share": share, "rechecked": rechecked}
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        verdict = verdict.model_copy(update={**own, "kind": kind})

        def delivered() -> None:
            # The next reader of what was given back answers and counts it.
            if incoming.given_back:
                return
            self._ended(incoming, True)
            self._counts.verdict(verdict)
            if self._count is not None and not rechecked:
                self._count(verdict)
            if not checked:
                self._counts.left_out("budget", verdict.source, verdict.model)

        message = verdict_message(verdict, self._settings.topics)
        message.on_delivered = delivered
        return with_outcome(message, verdict, self._settings.topics)

    def _ended(self, incoming: Incoming, answered: bool) -> None:
        """Note it once: a record may be given back between its verdict's acknowledgement and the outcome's."""
        if incoming in self._taken_in:
            self._taken_in.remove(incoming)
            if not answered:
                self._counts.give_back()


def _hold(error: ModelUnavailable, given_up: Callable[[], Sequence[Outgoing]]) -> Hold:
    # What a cascade's first judge decides goes on.
    others_pass = isinstance(error, EscalationUnavailable)
    return Hold(error.retry_after, otherwise=given_up if error.suspect else None, others_pass=others_pass)
