"""From a method's decision to a verdict: timing, usage, abstaining; written once for all checkers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from checkers.checker import Checker
from checkers.ledger import Ledger
from checkers.oracle.protocol import Oracle, OracleFailed
from schemas import Abstention, Envelope, Evidence, Outcome, Verdict, verdict_id
from schemas.evidence import AbstentionCause


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a method found."""

    outcome: Outcome
    score: float | None
    reason: str
    evidence: Evidence
    error_bound: float | None = None


class Undecidable(Exception):
    """The method cannot decide about this record; ends in a verdict that abstains."""

    def __init__(self, cause: AbstentionCause, detail: str) -> None:
        super().__init__(detail)
        self.cause: AbstentionCause = cause
        self.detail = detail


async def decide(
    checker: Checker,
    record: Envelope,
    method: Callable[[Ledger], Awaitable[Decision]],
    *,
    oracle: Oracle,
    deadline_seconds: float,
) -> Verdict:
    """The verdict that `method` leads to, an abstention where it cannot decide within `deadline_seconds`.

    Raises:
        OracleUnavailable: the judge's endpoint is down; the record is to be held.
    """
    ledger = Ledger(oracle)
    started = time.perf_counter()
    try:
        async with asyncio.timeout(deadline_seconds):
            decision = await method(ledger)
    except Undecidable as error:
        decision = _abstain(error.cause, error.detail)
    except OracleFailed as error:
        decision = _abstain(error.cause, error.detail)
    except TimeoutError:
        decision = _abstain("timeout", f"no decision within {deadline_seconds:g} s")
    usage = ledger.usage.model_copy(update={"seconds": round(time.perf_counter() - started, 6)})
    return Verdict(
        id=verdict_id(record.source, record.id, checker.name, checker.config_digest),
        record_id=record.id,
        checker=checker.name,
        checker_version=checker.version,
        config_digest=checker.config_digest,
        outcome=decision.outcome,
        score=decision.score,
        error_bound=decision.error_bound,
        reason=decision.reason,
        evidence=decision.evidence,
        usage=usage,
        source=record.source,
        model=record.model,
        judge=oracle.name,
    )


def _abstain(cause: AbstentionCause, detail: str) -> Decision:
    return Decision(
        outcome="abstain",
        score=None,
        reason=f"Could not decide: {detail}.",
        evidence=Abstention(cause=cause, detail=detail),
    )
