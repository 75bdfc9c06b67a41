"""The agent of a checker: one record in, one verdict out. Every checker gets it, third parties' included."""

import asyncio
import time
from collections.abc import Sequence

import structlog

from agents.listener import Listener
from agents.routing import Routing
from agents.runtime import Agent, AgentFactory, Runtime
from agents.spending.budgets import Budgets
from checkers.checker import Checker
from checkers.oracle.protocol import OracleUnavailable
from schemas import Abstention, Envelope, Usage, Verdict, read_record, verdict_id
from streams.intake_gate import Hold
from streams.messages import Handler, Incoming, Outgoing, verdict_message
from streams.metrics import CheckerMetrics
from streams.settings import StreamSettings

_log = structlog.get_logger(__name__)


def checking(checker: Checker, *, routing: Routing | None = None, budgets: Budgets | None = None) -> AgentFactory:
    """The agent of `checker`: its verdicts on the records of the outputs' topic.

    Args:
        checker: which also says what kinds it takes.
        routing: which of these records it sees; all without it.
        budgets: what it may spend, among the worker's services; nothing is limited without them.
    """

    def build(runtime: Runtime) -> Agent:
        topics = runtime.settings.topics
        metrics = runtime.metrics.checker(checker.name)
        handler = _handler(checker, runtime.settings, metrics, routing or Routing(), budgets or Budgets())
        writes = (topics.accepted, topics.rejected, topics.abstained)
        return Listener(checker.name, topics.outputs, handler, runtime, writes=writes)

    return build


def _handler(
    checker: Checker, settings: StreamSettings, metrics: CheckerMetrics, routing: Routing, budgets: Budgets
) -> Handler:
    """The handler that puts each record of the checker's kinds to `checker` and sends its verdict on.

    A record that routing leaves out is counted and has no verdict. Where the budget is spent the verdict abstains: the
    record was meant to be checked, and whoever waits for its verdict is told.
    """
    kinds = checker.kinds
    max_bytes = settings.records.max_bytes
    limit = settings.delivery.check_timeout_seconds
    topics = settings.topics

    async def handle(incoming: Incoming) -> Sequence[Outgoing]:
        record = read_record(incoming.value, max_bytes=max_bytes)
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        if kind not in kinds:
            metrics.skip(kind)
            return ()
        if incoming.attempt == 1:
            metrics.record(kind)
        reason = routing.left_out(checker.name, record)
        if reason is not None:
            metrics.left_out(reason, record.source, record.model)
            return ()
        spent_up = await budgets.spent_up(checker.name)
        if spent_up is None:
            verdict = await _check(checker, record, limit, metrics)
            budgets.book(checker.name, verdict.usage)
        else:
            verdict = _undecided(checker, record, Abstention(cause="budget", detail=spent_up))
        verdict = verdict.model_copy(update={"origin": incoming.origin})

        def delivered() -> None:
            metrics.verdict(verdict)
            if spent_up is not None:
                metrics.left_out("budget", verdict.source, verdict.model)

        message = verdict_message(verdict, topics)
        message.on_delivered = delivered
        return (message,)

    return handle


async def _check(checker: Checker, record: Envelope, limit: float, metrics: CheckerMetrics) -> Verdict:
    begun = time.monotonic()
    try:
        async with asyncio.timeout(limit) as deadline:
            verdict = await checker.check(record)
    except OracleUnavailable as error:
        raise Hold(error.retry_after) from error
    except TimeoutError:
        if not deadline.expired():
            raise
        verdict = _out_of_time(checker, record, limit)
    metrics.checked(time.monotonic() - begun)
    _log.debug("verdict", checker=checker.name, record_id=record.id, verdict_id=verdict.id, outcome=verdict.outcome)
    return verdict


def _out_of_time(checker: Checker, record: Envelope, limit: float) -> Verdict:
    detail = f"no decision within {limit:g} s (delivery.check_timeout_seconds)"
    _log.warning("check timed out", checker=checker.name, record_id=record.id, seconds=limit)
    return _undecided(checker, record, Abstention(cause="timeout", detail=detail), Usage(seconds=limit))


def _undecided(checker: Checker, record: Envelope, why: Abstention, usage: Usage | None = None) -> Verdict:
    return Verdict(
        id=verdict_id(record.source, record.id, checker.name, checker.config_digest),
        record_id=record.id,
        checker=checker.name,
        checker_version=checker.version,
        config_digest=checker.config_digest,
        outcome="abstain",
        score=None,
        reason=f"Could not decide: {why.detail}.",
        evidence=why,
        usage=usage or Usage(),
        source=record.source,
        model=record.model,
        judge="",
    )
