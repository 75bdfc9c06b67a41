"""One series of verdicts, those of one checker on one subject, and whether its success rate dropped."""

import math
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from agents.trust.baseline import LearnedBaseline
from agents.trust.drop_test import DropTest
from agents.trust.settings import TrustSettings
from agents.trust.verdict_reader import MAX_REASON, ReadVerdict, SeriesKey
from checkers.intervals import wilson
from schemas import Alert, AlertKind, RejectedRecord, content_id, digest

_VERSION = 1
"""Of what is counted and kept; raised when a change makes what was kept mean something else."""


class Plan(NamedTuple):
    """The settings of one series."""

    rate: float | None
    """The configured baseline; None where it is learned."""
    test_bound: float
    """The error bound of each sequential test."""
    baseline_bound: float
    """The error bound of a learned baseline."""
    digest: str
    """Of all that decides; a series goes on only under the digest that it was begun with."""

    @classmethod
    def of(cls, settings: TrustSettings, key: SeriesKey) -> "Plan":
        """The whole error bound is the test's; half of it if the baseline is learned."""
        entry = next((entry for entry in settings.baselines if entry.matches(*key)), None)
        rate = None if entry is None else entry.rate
        share = settings.error_bound if rate is not None else settings.error_bound / 2
        content = [
            _VERSION,
            settings.error_bound,
            settings.smallest_drop,
            rate,
            0 if entry is None else entry.edition,
            settings.learn_at_least if rate is None else None,
        ]
        return cls(rate, share, share, digest(content)[:16])


class _Rejected(NamedTuple):
    place: int
    """Which verdict of the phase it was, counted from 1."""
    record: RejectedRecord


class SeriesState(BaseModel):
    """The stored state of a series."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    runs: int
    counted: int
    test: dict[str, Any]
    baseline: dict[str, Any] | None
    phase_verdicts: int
    rejected: tuple[tuple[int, RejectedRecord], ...]
    alert: Alert | None
    """The drop that goes on."""


class Series:
    """Watches one subject under one checker, verdict by verdict, in O(1) memory.

    It is in one of two phases. While *watching*, every accept or reject goes to a `DropTest` against the baseline;
    its alarm raises `trust_drop`. The series is then *dropped*: learning pauses, no further drop is told, and a test
    of its own asks the opposite question, whether the success rate has left what it dropped to. That is the same
    test with everything mirrored: outcomes flipped, against the flipped level `1 - (baseline - smallest_drop)`. Its
    alarm raises `trust_recovery`, and watching begins anew with a fresh test; what was learned before the drop stays.

    The promise is per phase. While watching, a series whose success rate is never below its baseline has an alert
    with a probability of at most the error bound, ever; with a learned baseline half of the bound is the chance that
    the baseline was learned too high, half that of the test. While dropped, a series that stays at or below
    `baseline - smallest_drop` is told to have recovered with a probability of at most the bound. After a recovery
    the bound holds again for the new phase.
    """

    def __init__(self, key: SeriesKey, settings: TrustSettings, *, runs: int = 0) -> None:
        """`runs`: number of alerts of this series before, under any settings. Their ids are not used again."""
        self.key = key
        self.plan = Plan.of(settings, key)
        self.alert: Alert | None = None
        """The drop that goes on, from its alarm to its recovery."""
        self.counted = 0
        """Verdicts counted since the series began."""
        self.runs = runs
        """Alerts told of this series."""
        self._settings = settings
        self._learned = None if self.plan.rate is not None else self._new_baseline()
        self._test = self._new_test()
        self._phase_verdicts = 0
        self._rejected: deque[_Rejected] = deque(maxlen=settings.rejected_in_alert)

    @property
    def baseline(self) -> float | None:
        """The expected success rate; None while it is learned. While dropped, the one at the drop."""
        if self.alert is not None:
            return self.alert.baseline
        return self.plan.rate if self._learned is None else self._learned.rate

    @property
    def dropped(self) -> bool:
        """True from a drop to its recovery."""
        return self.alert is not None

    @property
    def evidence_ratio(self) -> float:
        """Log evidence as a share of that at the next alert: 0 to 1."""
        return math.log(max(1.0, self._test.evidence)) / -math.log(self.plan.test_bound)

    def update(self, verdict: ReadVerdict, now: datetime) -> Alert | None:
        """Count a verdict at the time `now`; returns the alert that it raises."""
        accepted = verdict.outcome == "accept"
        self.counted += 1
        self._phase_verdicts += 1
        return self._recovering(accepted, now) if self.dropped else self._watching(verdict, accepted, now)

    def state(self) -> SeriesState:
        return SeriesState(
            digest=self.plan.digest,
            runs=self.runs,
            counted=self.counted,
            test=self._test.state(),
            baseline=None if self._learned is None else self._learned.state(),
            phase_verdicts=self._phase_verdicts,
            rejected=tuple(self._rejected),
            alert=self.alert,
        )

    @classmethod
    def from_state(cls, key: SeriesKey, state: SeriesState, settings: TrustSettings) -> "Series":
        """Go on with what was kept, or, where the settings of this series have changed since, begin anew.

        Raises:
            ValueError: what was kept does not fit what it says it is.
        """
        series = cls(key, settings, runs=state.runs)
        if state.digest != series.plan.digest:
            return series
        series._test = DropTest.from_state(
            state.test, smallest_drop=settings.smallest_drop, error_bound=series.plan.test_bound
        )
        if (state.baseline is None) != (series._learned is None):
            raise ValueError("a baseline is kept and none is learned, or the other way round")
        if state.baseline is not None:
            series._learned = LearnedBaseline.from_state(
                state.baseline, error_bound=series.plan.baseline_bound, at_least=settings.learn_at_least
            )
        series.counted = state.counted
        series.alert = state.alert
        series._phase_verdicts = state.phase_verdicts
        series._rejected.extend(_Rejected(place, record) for place, record in state.rejected)
        return series

    def _watching(self, verdict: ReadVerdict, accepted: bool, now: datetime) -> Alert | None:
        if not accepted:
            self._rejected.append(_Rejected(self._phase_verdicts, _kept(verdict)))
        # The baseline must be known before the verdict that is tested against it.
        baseline = self.baseline
        if self._learned is not None:
            self._learned.update(accepted)
        if baseline is None or not self._test.update(accepted, baseline):
            return None
        since = self._test.since
        alert = self._told(
            "trust_drop",
            baseline,
            accepted=since.accepted,
            verdicts=since.verdicts,
            now=now,
            rejected=self._rejected_since(since.verdicts),
        )
        self.alert = alert
        self._begin_phase()
        return alert

    def _recovering(self, accepted: bool, now: datetime) -> Alert | None:
        drop = self.alert
        if drop is None or not self._test.update(not accepted, self._mirrored(drop.baseline)):
            return None
        since = self._test.since
        alert = self._told(
            "trust_recovery",
            drop.baseline,
            accepted=since.verdicts - since.accepted,
            verdicts=since.verdicts,
            now=now,
            rejected=(),
        )
        self.alert = None
        self._begin_phase()
        return alert

    def _mirrored(self, baseline: float) -> float:
        # Below twice the smallest drop, half of the baseline is what the test looks for.
        return 1 - (baseline - min(self._settings.smallest_drop, baseline / 2))

    def _begin_phase(self) -> None:
        self._test = self._new_test()
        self._phase_verdicts = 0
        self._rejected.clear()

    def _new_test(self) -> DropTest:
        return DropTest(smallest_drop=self._settings.smallest_drop, error_bound=self.plan.test_bound)

    def _new_baseline(self) -> LearnedBaseline:
        return LearnedBaseline(error_bound=self.plan.baseline_bound, at_least=self._settings.learn_at_least)

    def _rejected_since(self, verdicts: int) -> tuple[RejectedRecord, ...]:
        latest = list(reversed(self._rejected))
        since = [each.record for each in latest if each.place > self._phase_verdicts - verdicts]
        return tuple(since or (each.record for each in latest[:1]))

    def _told(
        self,
        kind: AlertKind,
        baseline: float,
        *,
        accepted: int,
        verdicts: int,
        now: datetime,
        rejected: Sequence[RejectedRecord],
    ) -> Alert:
        self.runs += 1
        low, high = wilson(accepted, verdicts)
        learned: Literal["configured", "learned"] = "configured" if self._learned is None else "learned"
        verb = "dropped" if kind == "trust_drop" else "is back"
        observed = accepted / verdicts
        return Alert(
            id=content_id("alert", [*self.key, self.runs, kind]),
            kind=kind,
            checker=self.key.checker,
            source=self.key.source,
            model=self.key.model,
            raised_at=now,
            baseline=baseline,
            baseline_from=learned,
            observed=observed,
            observed_low=low,
            observed_high=high,
            verdicts=verdicts,
            error_bound=self._settings.error_bound,
            summary=(
                f"Trust in {self.key.model} at {self.key.source} {verb}: {self.key.checker} accepted {observed:.1%} "
                f"of the last {verdicts} outputs (95% interval {low:.1%} to {high:.1%}), "
                f"against a {learned} baseline of {baseline:.1%}."
            ),
            rejected=tuple(rejected),
        )


def _kept(verdict: ReadVerdict) -> RejectedRecord:
    return RejectedRecord(
        verdict_id=verdict.id,
        record_id=verdict.record_id,
        reason=verdict.reason[:MAX_REASON],
        checked_at=verdict.checked_at,
        origin=verdict.origin,
    )
