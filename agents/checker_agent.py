"""The agent of a checker: one record in, one verdict out. Every checker gets it, third parties' included."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry

from agents.budgets import Budgets
from agents.listener import Listener
from agents.monitor.outcomes import missing_outcome, with_outcome
from agents.routing import Routing
from agents.runtime import Agent, AgentFactory, Runtime
from agents.screen import RoutingScreen
from agents.sessions import Sessions
from checkers.checker import Checker, unclaimed
from checkers.model_patience import blamed
from checkers.plugin import SubjectLabels, VerdictCount
from models.protocol import EscalationUnavailable, ModelUnavailable
from models.worktime import WaitObserver
from schemas import Envelope, Generation, Origin, Trace, Unreadable, Verdict, read_record
from streams.admission import Slot, Slots
from streams.messages import Hold, Incoming, Outgoing, verdict_message
from streams.metrics import CheckerMetrics
from streams.takeover import Takeover

_MOST_TRIES = 20
"""Of a conversation on which the judge fails while it answers others: some two minutes, one in five seconds."""


def checker_agent(
    checker: Checker[Any],
    *,
    routing: Routing | None = None,
    budgets: Budgets | None = None,
    checked_kinds: Collection[str] | None = None,
    others: Mapping[str, Collection[str]] | None = None,
    count: Callable[[CollectorRegistry, SubjectLabels], VerdictCount] | None = None,
    counts: Collection[str] = (),
) -> AgentFactory:
    """The agent of `checker`, which publishes verdicts on records of the outputs topic.

    Without `routing` it checks all records of its kinds; without `budgets` without a limit.
    One checker of a deployment gets `checked_kinds`, the kinds that any of its checkers takes: it also answers what
    none of them can, an unreadable message with a dead letter and a record of another kind with an abstention; `others`
    are the kinds that each of the others takes.
    `count` builds what counts its verdicts besides. `counts` are the kinds whose records it counts for all checkers.
    """

    def build(runtime: Runtime) -> Agent:
        topics = runtime.settings.topics
        counted = _uncounted if count is None else count(runtime.metrics.registry, runtime.metrics.subject)
        rules = routing or Routing()
        metrics = runtime.metrics.checker(checker.name, counts)
        screen = RoutingScreen(
            checker,
            rules,
            metrics,
            max_bytes=runtime.settings.records.max_bytes,
            answers_for=None if checked_kinds is None else others or {},
        )
        checking = _Checking(
            checker,
            runtime,
            metrics,
            routing=rules,
            budgets=budgets or Budgets(),
            checked_kinds=checked_kinds,
            count=counted,
        )
        on_end = checking.conversation_ended if checker.unit == "conversation" else None
        checking.sessions = sessions = Sessions(checker, runtime, on_end) if checker.turns else None
        verdicts = (topics.accepted, topics.rejected, topics.abstained)
        takeover = Takeover(
            checker.name,
            topics.outputs,
            (*verdicts, topics.dead_letter),
            runtime.settings,
            follows=topics.outcomes,
            follow_up=partial(missing_outcome, topics),
            restore=sessions.take_over if sessions else None,
        )
        return Listener(
            checker.name,
            topics.outputs,
            checking.handle,
            runtime,
            writes=(*verdicts, topics.outcomes, *([topics.session_state] if sessions else [])),
            screen=screen,
            on_ended=checking.ended,
            in_flight=lambda: len(checking.taken_in),
            takeover=takeover,
            sessions=sessions,
        )

    return build


class _Checking:
    """Checks each record of the checker's kinds and publishes the verdict.

    A record that routing leaves out is counted and has no verdict. If the budget is spent, the verdict abstains: the
    record should have been checked, and someone may wait for its verdict.
    """

    def __init__(
        self,
        checker: Checker[Any],
        runtime: Runtime,
        metrics: CheckerMetrics,
        *,
        routing: Routing,
        budgets: Budgets,
        checked_kinds: Collection[str] | None,
        count: VerdictCount,
    ) -> None:
        self._checker = checker
        self._settings = runtime.settings
        self._stream_metrics = runtime.metrics
        self._metrics = metrics
        self._count = count
        self._routing = routing
        self._budgets = budgets
        self._checked_kinds = checked_kinds
        self.sessions: Sessions | None = None
        self.taken_in: set[Incoming] = set()
        """Records that are counted and have no answer yet."""
        self._ending: dict[str, int] = {}
        """Conversations that have ended, with the tries that failed so far."""

    async def handle(self, incoming: Incoming) -> Sequence[Outgoing] | None:
        try:
            record = read_record(incoming.value, max_bytes=self._settings.records.max_bytes)
        except Unreadable:
            if self._checked_kinds is not None:
                raise
            self._metrics.skip("unreadable")
            return None
        if record.trace is None and (trace := Trace.of_headers(incoming.headers)):
            record = record.model_copy(update={"trace": trace})
        if self.sessions is not None and isinstance(record, Generation) and record.session is not None:
            record = record.after(self.sessions.follow(incoming, record))
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        if kind not in self._checker.kinds or incoming.recheck not in {None, self._checker.name}:
            self._metrics.skip(kind)
            return self._not_taken(record, kind, incoming)
        if self._checker.unit == "conversation":
            # It is a turn, and the session's end is waited for.
            self._metrics.skip(kind)
            return None
        reason = None if incoming.recheck else self._routing.left_out(self._checker.name, record)
        if incoming.attempt == 1:
            self._metrics.record(kind, misspelt=record.misspelt, again=incoming.recheck is not None)
            if reason is None:
                self.taken_in.add(incoming)
        if reason is not None:
            self._metrics.left_out(reason, record.source, record.model)
            return None
        return await self._check(record, incoming)

    async def conversation_ended(self, record: Generation, at: Origin) -> Sequence[Outgoing] | None:
        """The verdict on a conversation whose last turn is there; None if it is to be asked for again later."""
        incoming = Incoming(at.topic, at.partition, at.offset, None, None, Slot(Slots(1)))
        if (reason := self._routing.left_out(self._checker.name, record)) is not None:
            self._metrics.left_out(reason, record.source, record.model)
            return ()
        if (tries := self._ending.pop(record.id, 0)) == 0:
            self._metrics.record(record.kind)
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
        message.on_delivered = partial(self._stream_metrics.unclaimed, kind)
        return (message,)

    async def _check(self, record: Envelope, incoming: Incoming) -> Sequence[Outgoing]:
        checker = self._checker
        exhausted = self._budgets.exhausted(checker.name)
        try:
            with WaitObserver(incoming.slot.queue, incoming.slot.give_up), self._budgets.booked(checker.name):
                verdict = await (checker.check(record) if exhausted is None else checker.check_free(record))
        except ModelUnavailable as error:
            given_up = checker.abstain(record, "judge_failed", blamed(error))
            raise _hold(error, partial(self._answer, given_up, record, incoming)) from error
        if verdict is None:
            abstention = checker.abstain(record, "budget", exhausted or "")
            return self._answer(abstention, record, incoming, checked=False)
        self._metrics.checked(verdict.usage.seconds)
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
            self.ended(incoming, True)
            self._metrics.verdict(verdict)
            if not rechecked:
                self._count(verdict)
            if not checked:
                self._metrics.left_out("budget", verdict.source, verdict.model)

        message = verdict_message(verdict, self._settings.topics)
        message.on_delivered = delivered
        return with_outcome(message, verdict, self._settings.topics)

    def ended(self, incoming: Incoming, answered: bool) -> None:
        """Note it once: a record may be given back between its verdict's acknowledgement and the outcome's."""
        if incoming in self.taken_in:
            self.taken_in.remove(incoming)
            if not answered:
                self._metrics.give_back()


def _uncounted(verdict: Verdict) -> None:
    """Count nothing besides."""


def _hold(error: ModelUnavailable, given_up: Callable[[], Sequence[Outgoing]]) -> Hold:
    # What a cascade's first judge decides goes on.
    others_pass = isinstance(error, EscalationUnavailable)
    return Hold(error.retry_after, otherwise=given_up if error.suspect else None, others_pass=others_pass)
