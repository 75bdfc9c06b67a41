"""Two thresholds on a verdict's score: accept from the one, reject below the other, decide nothing in between.

A cascade has two judges one after the other: a free one decides what its thresholds allow, the other gets the rest.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from checkers.checker import Checker, CheckerSettings, Decision, Undecidable
from models.protocol import EscalationUnavailable, ModelUnavailable
from schemas import Abstention, Cascade, Envelope, Verdict, digest, verdict_id
from schemas.evidence import JudgeCause

BETWEEN: Final = "between_thresholds"
"""Cause of an abstention on a score that lies between the two."""


class Thresholds(BaseModel):
    """Scores that are accepted and rejected; those between are left undecided. `assay calibrate` prints them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    accept_from: Annotated[float, Field(ge=0, le=1)] | None = None
    """Accept a record whose score is at least this. If only the other one is set, nothing is accepted."""
    reject_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """Reject a record whose score is below this. If only the other one is set, nothing is rejected."""
    judge: Annotated[str, Field(min_length=1)] | None = None
    """Name of the judge whose scores they were calibrated on, as verdicts tell it. Another judge's scores mean
    something else, so the checker is then not started. Not compared if not set."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.accept_from is not None and self.reject_below is not None and self.reject_below > self.accept_from:
            raise ValueError(
                f"reject_below is {self.reject_below:g}; it should not exceed accept_from ({self.accept_from:g})"
            )
        return self

    @property
    def are_set(self) -> bool:
        return self.accept_from is not None or self.reject_below is not None

    def require(self, judge: str) -> None:
        """Raise ValueError if they were calibrated on the scores of another judge."""
        if self.judge is not None and self.judge != judge:
            raise ValueError(
                f"thresholds.judge is {self.judge!r}, but the judge is {judge!r}: its scores mean something else. "
                "Calibrate again (assay calibrate), or remove the thresholds"
            )

    def accepts(self, score: float) -> bool:
        """True if `score` is accepted, False if it is rejected.

        Raises:
            Undecidable: `between_thresholds`.
        """
        if self.accept_from is not None and score >= self.accept_from:
            return True
        if self.reject_below is not None and score < self.reject_below:
            return False
        allowed = [
            *([] if self.reject_below is None else [f"rejected below {self.reject_below:g}"]),
            *([] if self.accept_from is None else [f"accepted from {self.accept_from:g}"]),
        ]
        raise Undecidable(BETWEEN, f"the score is {score:g}; it is {' and '.join(allowed)}", score=score)


class ScoringSettings(CheckerSettings):
    """Base class of the settings of a checker whose score can be thresholded."""

    thresholds: Thresholds = Thresholds()
    """Two thresholds on the verdict's score."""


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
