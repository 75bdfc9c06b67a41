"""Small real checkers: one that accepts, one that sleeps, one that raises, one whose judge comes and goes."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from checkers.checker import Checker
from checkers.oracle.protocol import OracleUnavailable
from schemas import Abstention, Envelope, Outcome, Usage, Verdict, verdict_id

EVERY_KIND = frozenset({"generation", "paraphrase", "extraction", "labelling", "retrieval", "probe"})


class Accept:
    """Accepts whatever it is given, after doing what `_work` does."""

    version = "1"
    config_digest = "fixed"

    def __init__(self, name: str = "accept", kinds: frozenset[str] = frozenset({"generation"})) -> None:
        self.name = name
        self.kinds = kinds

    async def check(self, record: Envelope) -> Verdict:
        await self._work(record)
        return self._verdict(record, "accept")

    async def _work(self, record: Envelope) -> None:
        pass

    def _verdict(self, record: Envelope, outcome: Outcome) -> Verdict:
        return Verdict(
            id=verdict_id(record.source, record.id, self.name, self.config_digest),
            record_id=record.id,
            checker=self.name,
            checker_version=self.version,
            config_digest=self.config_digest,
            outcome=outcome,
            score=None if outcome == "abstain" else 1.0,
            reason="It was asked to.",
            evidence=Abstention(cause="no_reference", detail="nothing was looked at"),
            usage=Usage(calls=1),
            source=record.source,
            model=record.model,
            judge="none",
        )


class Sleep(Accept):
    """Takes `seconds`, on average, for a record."""

    def __init__(self, seconds: float, name: str = "sleep", spread: float = 0.5) -> None:
        super().__init__(name)
        self._seconds = seconds
        self._spread = spread

    async def _work(self, record: Envelope) -> None:
        await asyncio.sleep(self._seconds * random.uniform(1 - self._spread, 1 + self._spread))


class Raise(Accept):
    """Raises for records whose id begins with `bad`."""

    def __init__(self, name: str = "raise") -> None:
        super().__init__(name)

    async def _work(self, record: Envelope) -> None:
        if record.id.startswith("bad"):
            raise ValueError(f"cannot take {record.id}")


class WhileFileIsThere(Accept):
    """Its judge is down as long as a file exists."""

    def __init__(self, file: str, name: str = "flaky", retry_after: float = 0.2, seconds: float = 0.02) -> None:
        super().__init__(name)
        self._file = Path(file)
        self._retry_after = retry_after
        self._seconds = seconds
        self.asked = 0
        """How often the judge was asked."""

    async def _work(self, record: Envelope) -> None:
        self.asked += 1
        await asyncio.sleep(self._seconds)
        if self._file.exists():
            raise OracleUnavailable("connection refused", retry_after=self._retry_after)


class Large(Accept):
    """Gives a verdict that no broker takes."""

    async def check(self, record: Envelope) -> Verdict:
        return self._verdict(record, "accept").model_copy(update={"reason": "x" * 9_000_000})


def consistency(base_url: str, concurrency: int = 64) -> Checker:
    """The real consistency checker, whose judge is an endpoint; to be called on the event loop."""
    from checkers.consistency.checker import ConsistencyChecker
    from checkers.consistency.settings import ConsistencySettings
    from checkers.oracle.build import build_oracle
    from checkers.oracle.settings import JudgeSettings

    judge = JudgeSettings(backend="openai", base_url=base_url, model="stub", concurrency=concurrency)
    return ConsistencyChecker(ConsistencySettings(), build_oracle(judge))


CHECKERS: dict[str, Callable[..., Checker]] = {
    "accept": Accept,
    "sleep": Sleep,
    "raise": Raise,
    "flaky": WhileFileIsThere,
    "large": Large,
    "consistency": consistency,
}
