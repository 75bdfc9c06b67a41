"""Two judges one after the other: a free one decides what its thresholds allow, the other one gets the rest."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, get_args

from checkers.checker import Checker, Decision
from checkers.thresholds import BETWEEN
from models.protocol import EscalationUnavailable, ModelUnavailable
from schemas import Abstention, Cascade, Envelope, Verdict, digest, verdict_id
from schemas.evidence import JudgeCause

_ESCALATED = frozenset({BETWEEN, "unsupported_language", *get_args(JudgeCause)})
"""Causes with which the first judge leaves a record to the second: its score, or itself. A record that has nothing to
be judged by is not sent on, nor one whose time is over."""


class CascadeChecker(Checker[Any]):
    """A checker twice, with a judge each; verdicts name the judge that decided, and both in `cascade`."""

    def __init__(self, first: Checker[Any], second: Checker[Any]) -> None:
        """`first` has thresholds, and its judge costs nothing; `second` has none."""
        super().__init__(second.settings, second.models)
        self.name = first.name  # type: ignore[misc]  # one class, many names
        self.version = first.version  # type: ignore[misc]
        self.kinds, self.turns = first.kinds, first.turns
        self._first = first
        self._second = second
        self._judges = (first.judge_name, second.judge_name)

    @cached_property
    def config_digest(self) -> str:
        """One for both: a record's verdict has the same id, no matter which judge decides."""
        return digest([self._first.config_digest, self._second.config_digest])[: len(self._first.config_digest)]

    async def check(self, record: Envelope) -> Verdict:
        """The first judge's verdict, or the second's.

        Raises:
            EscalationUnavailable: the second judge's endpoint is down, and the first does not decide.
        """
        screened = await self._first.check(record)
        if not _leaves_open(screened):
            return self._of_first(screened)
        try:
            verdict = await super().check(record)
        except ModelUnavailable as error:
            raise EscalationUnavailable(**vars(error)) from error
        evidence = screened.evidence
        score = evidence.score if isinstance(evidence, Abstention) else None
        return verdict.model_copy(update={"cascade": Cascade(judges=self._judges, escalated=True, first_score=score)})

    async def check_free(self, record: Envelope) -> Verdict | None:
        screened = await self._first.check(record)
        return None if _leaves_open(screened) else self._of_first(screened)

    async def decide(self, record: Envelope) -> Decision:
        """The second judge's decision."""
        return await self._second.decide(record)

    async def close(self) -> None:
        await self._first.close()
        await self._second.close()

    def _of_first(self, verdict: Verdict) -> Verdict:
        own: Mapping[str, Any] = {
            "id": verdict_id(verdict.source, verdict.record_id, self.name, self.config_digest),
            "config_digest": self.config_digest,
            "cascade": Cascade(judges=self._judges, escalated=False, first_score=verdict.score),
        }
        return verdict.model_copy(update=own)


def _leaves_open(verdict: Verdict) -> bool:
    return isinstance(verdict.evidence, Abstention) and verdict.evidence.cause in _ESCALATED
