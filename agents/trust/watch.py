"""The verdicts of one version of a series: what is expected of them, and the test of that."""

import math
from collections import deque
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from agents.trust.baseline import Baseline, BaselineState
from agents.trust.drop_test import DropTest, Since
from agents.trust.outcomes import Version
from schemas import RejectedRecord

LEARN_AT_LEAST = 50
"""Verdicts before a learned baseline is used."""

_REJECTED_IN_ALERT = 10

FIRST_WEEK_COUNTS = 0.7
"""Share of the evidence of the first week that counts after it: it may be the week's own way."""


class Terms(NamedTuple):
    """The numbers that decide on the verdicts of one version."""

    rate: float | None
    """None where it is learned."""
    tolerance: float
    smallest_drop: float
    error_bound: float


class _Rejected(NamedTuple):
    place: int
    """Which verdict of the phase it was, counted from 1."""
    record: RejectedRecord


class WatchState(BaseModel):
    """The stored state of a version's verdicts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: dict[str, str]
    counted: int
    test: dict[str, Any]
    baseline: BaselineState
    phase_verdicts: int
    rejected: tuple[tuple[int, RejectedRecord], ...]


class Watch:
    """Holds each verdict against the baseline, by one `DropTest` a phase, and by its mirror image after a drop."""

    def __init__(self, version: Version, terms: Terms) -> None:
        self.version = version
        """That of its first verdict."""
        self.terms = terms
        self.counted = 0
        self.baseline = Baseline(terms.rate, tolerance=terms.tolerance, at_least=LEARN_AT_LEAST)
        self._rejected: deque[_Rejected] = deque(maxlen=_REJECTED_IN_ALERT)
        self.begin_phase()

    def begin_phase(self) -> None:
        """Test anew, with what was learned."""
        self._test = DropTest(smallest_drop=self.terms.smallest_drop, error_bound=self.terms.error_bound)
        self._phase_verdicts = 0
        self._rejected.clear()
        self.baseline.release()

    @property
    def learned(self) -> Literal["configured", "learned"]:
        return "learned" if self.terms.rate is None else "configured"

    @property
    def evidence_ratio(self) -> float:
        """Log evidence as a share of that at the next alert: 0 to 1."""
        return math.log(max(1.0, self._test.evidence)) / -math.log(self.terms.error_bound)

    @property
    def evidence(self) -> float:
        """That of its test."""
        return self._test.evidence

    @property
    def since(self) -> Since:
        """The verdicts since the likeliest change."""
        return self._test.since

    @property
    def rejected_since(self) -> tuple[RejectedRecord, ...]:
        """The latest rejected records since then, or the latest one."""
        latest = list(reversed(self._rejected))
        since = [each.record for each in latest if each.place > self._phase_verdicts - self.since.verdicts]
        return tuple(since or (each.record for each in latest[:1]))

    def update(self, accepted: bool, rejected: RejectedRecord | None, moment: datetime, *, dropped: bool) -> bool:
        """Count a verdict; whether there is proof of a drop or, while `dropped`, of a recovery."""
        self.counted += 1
        self._phase_verdicts += 1
        if rejected is not None:
            self._rejected.append(_Rejected(self._phase_verdicts, rejected))
        baseline = self.baseline
        if baseline.at(moment):
            self._test.discount(FIRST_WEEK_COUNTS)
        # The baseline must be known before the verdict that is tested against it.
        rate = baseline.rate()
        alarm = False
        if rate is not None:
            # Below twice the smallest drop, half of the baseline is what the test looks for.
            tested = 1 - (rate - min(self.terms.smallest_drop, rate / 2)) if dropped else rate
            alarm = self._test.update(accepted is not dropped, tested, rate, share=1 / baseline.dispersion)
        baseline.learn(accepted)
        return alarm

    def drop(self) -> None:
        """Wait for the recovery from now on."""
        self.begin_phase()
        self.baseline.hold()

    def state(self) -> WatchState:
        return WatchState(
            version=dict(self.version),
            counted=self.counted,
            test=self._test.state(),
            baseline=self.baseline.state(),
            phase_verdicts=self._phase_verdicts,
            rejected=tuple(self._rejected),
        )

    @classmethod
    def from_state(cls, state: WatchState, terms: Terms) -> "Watch":
        """Raise ValueError if what was kept does not fit what it says it is."""
        watch = cls(state.version, terms)
        watch._test = DropTest.from_state(state.test, smallest_drop=terms.smallest_drop, error_bound=terms.error_bound)
        watch.baseline.restore(state.baseline)
        watch.counted = state.counted
        watch._phase_verdicts = state.phase_verdicts
        watch._rejected.extend(_Rejected(place, record) for place, record in state.rejected)
        return watch
