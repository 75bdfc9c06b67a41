"""The agent of a checker: one record in, one verdict out. Every checker gets it, third parties' included."""

import asyncio
import time
from collections.abc import Sequence

import structlog

from agents.listener import Listener
from agents.runtime import Agent, AgentFactory, Runtime
from checkers.checker import Checker
from checkers.oracle.protocol import OracleUnavailable
from schemas import Abstention, Envelope, Usage, Verdict, read_record, verdict_id
from streams.gate import Hold
from streams.messages import Handler, Incoming, Outgoing, verdict_message
from streams.metrics import CheckerMetrics
from streams.settings import StreamSettings

_log = structlog.get_logger(__name__)


def checking(checker: Checker) -> AgentFactory:
    """The agent of `checker`: its verdicts on the records of the outputs' topic."""

    def build(runtime: Runtime) -> Agent:
        topics = runtime.settings.topics
        handler = _handler(checker, runtime.settings, runtime.metrics.checker(checker.name))
        writes = (topics.accepted, topics.rejected, topics.abstained)
        return Listener(checker.name, topics.outputs, handler, runtime, writes=writes)

    return build


def _handler(checker: Checker, settings: StreamSettings, metrics: CheckerMetrics) -> Handler:
    """The handler that puts each record of the checker's kinds to `checker` and sends its verdict on.

    A check that takes longer than `delivery.check_timeout_seconds` is an abstention: the record was read and could not
    be decided, which is an answer to whoever waits for one; a dead letter would have to be replayed by hand.
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
        verdict = await _check(checker, record, limit, metrics)
        verdict = verdict.model_copy(update={"origin": incoming.origin})
        message = verdict_message(verdict, topics)
        message.on_delivered = lambda: metrics.verdict(verdict)
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
    return Verdict(
        id=verdict_id(record.source, record.id, checker.name, checker.config_digest),
        record_id=record.id,
        checker=checker.name,
        checker_version=checker.version,
        config_digest=checker.config_digest,
        outcome="abstain",
        score=None,
        reason=f"Could not decide: {detail}.",
        evidence=Abstention(cause="timeout", detail=detail),
        usage=Usage(seconds=limit),
        source=record.source,
        model=record.model,
        judge="",
    )
