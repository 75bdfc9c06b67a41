"""The agent of a checker: one record in, one verdict out. Every checker gets it, third parties' included."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agents.listener import Listener
from agents.probe_metrics import probe_metrics
from agents.routing import Routing
from agents.runtime import Agent, AgentFactory, Runtime
from agents.spending.budgets import Budgets
from checkers.checker import Checker
from checkers.patience import blamed
from models.concurrent import in_slot
from models.protocol import EscalationUnavailable, OracleUnavailable
from schemas import Envelope, Unreadable, Verdict, read_record
from streams.intake_gate import Hold
from streams.messages import Handler, Incoming, Outgoing, verdict_message


def checker_agent(
    checker: Checker[Any], *, routing: Routing | None = None, budgets: Budgets | None = None
) -> AgentFactory:
    """The agent of `checker`, which publishes verdicts on records of the outputs topic.

    Without `routing` it checks all records of its kinds; without `budgets`, a service of the worker, without a limit.
    """

    def build(runtime: Runtime) -> Agent:
        topics = runtime.settings.topics
        handler = _handler(checker, runtime, routing or Routing(), budgets or Budgets())
        writes = (topics.accepted, topics.rejected, topics.abstained)
        return Listener(checker.name, topics.outputs, handler, runtime, writes=writes)

    return build


def _handler(checker: Checker[Any], runtime: Runtime, routing: Routing, budgets: Budgets) -> Handler:
    """The handler that checks each record of the checker's kinds and publishes the verdict.

    A record that routing leaves out is counted and has no verdict. If the budget is spent, the verdict abstains: the
    record should have been checked, and somebody may wait for its verdict.
    """
    settings = runtime.settings
    metrics, probes = runtime.metrics.checker(checker.name), probe_metrics(runtime.metrics)
    kinds = checker.kinds
    max_bytes = settings.records.max_bytes
    version_metadata = settings.records.version_metadata
    topics = settings.topics

    async def handle(incoming: Incoming) -> Sequence[Outgoing]:
        record = _readable(incoming.value, max_bytes)
        kind: str = "unreadable" if record is None else record.kind  # type: ignore[attr-defined]  # the envelope has none
        if record is None or kind not in kinds:
            metrics.skip(kind)
            return ()
        if incoming.attempt == 1:
            metrics.record(kind, misspelt=record.misspelt)
        reason = routing.left_out(checker.name, record)
        if reason is not None:
            metrics.left_out(reason, record.source, record.model)
            return ()
        spent_up = await budgets.spent_up(checker.name)

        def answer(verdict: Verdict, *, checked: bool = True) -> Sequence[Outgoing]:
            metadata = {key: record.metadata[key] for key in version_metadata if key in record.metadata}
            verdict = verdict.model_copy(update={"origin": incoming.origin, "metadata": metadata})

            def delivered() -> None:
                metrics.verdict(verdict)
                probes.verdict(verdict)
                if not checked:
                    metrics.left_out("budget", verdict.source, verdict.model)

            message = verdict_message(verdict, topics)
            message.on_delivered = delivered
            return (message,)

        try:
            with in_slot(incoming.give_up_slot, incoming.queue), budgets.booked(checker.name):
                verdict = await (checker.check(record) if spent_up is None else checker.check_free(record))
        except OracleUnavailable as error:
            raise _hold(error, partial(answer, checker.abstain(record, "judge_failed", blamed(error)))) from error
        if verdict is None:
            return answer(checker.abstain(record, "budget", spent_up or ""), checked=False)
        metrics.checked(verdict.usage.seconds)
        return answer(verdict)

    return handle


def _readable(data: bytes | None, max_bytes: int) -> Envelope | None:
    try:
        return read_record(data, max_bytes=max_bytes)
    except Unreadable:
        # The agent `unchecked` of this worker writes its dead letter, once for all checkers.
        return None


def _hold(error: OracleUnavailable, given_up: Callable[[], Sequence[Outgoing]]) -> Hold:
    # What a cascade's first judge decides goes on.
    apart = isinstance(error, EscalationUnavailable)
    return Hold(error.retry_after, otherwise=given_up if error.suspect else None, apart=apart)
