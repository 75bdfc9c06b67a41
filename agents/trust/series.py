"""One series of verdicts, those of one checker on one subject, and whether its success rate dropped."""

import math
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from agents.trust.baseline import SLOTS, Baseline, BaselineState, Cycle, slot_of
from agents.trust.drop_test import DropTest, Since
from agents.trust.outcomes import SeriesKey, SeriesOutcome, Version
from agents.trust.settings import BaselineEntry, TrustSettings
from checkers.intervals import wilson
from models.local.settings import TOLD, is_bundled
from schemas import Alert, AlertKind, Change, RejectedRecord, SeriesAnew, content_id, digest

_VERSION = 2
"""The version of the kept state; raised when a change makes an older state mean something else."""

LEARN_AT_LEAST = 50
"""Verdicts of a series before its learned baseline is used."""

_REJECTED_IN_ALERT = 10

_EARLIER = 8
"""Versions before the present one that are known again."""

_BACK_AFTER = 20
"""So many verdicts in a row of an earlier version are a way back to it; fewer are stragglers, such as those of a worker
that is being replaced."""


class Plan(NamedTuple):
    """The settings of one series."""

    rates: tuple[float, ...] | None
    """The configured baseline, by slot of the cycle; None where it is learned."""
    cycle: Cycle | None
    tolerance: float
    digest: str
    """The digest of all that decides; a series goes on only under the digest that it was begun with."""

    @classmethod
    def of(cls, settings: TrustSettings, key: SeriesKey) -> "Plan":
        """The first entry that matches counts."""
        entry = next((entry for entry in settings.baselines if entry.matches(*key)), BaselineEntry())
        content = [
            _VERSION,
            settings.error_bound,
            settings.smallest_drop,
            entry.rates,
            entry.cycle,
            entry.tolerance,
            entry.edition,
            LEARN_AT_LEAST if entry.rates is None else None,
        ]
        return cls(entry.rates, entry.cycle, entry.tolerance, digest(content)[:16])


class Straggler(Exception):
    """A verdict of a version before the present one."""


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
    slot: int = 0
    version: dict[str, str] | None = None
    earlier: tuple[str, ...] = ()
    stragglers: int = 0


class Series:
    """Watches one subject under one checker, verdict by verdict, in O(1) memory.

    It is in one of two phases. While *watching*, every accept or reject goes to a `DropTest` against the `Baseline`;
    its alarm raises `trust_drop`. The series is then *dropped*: learning pauses, no further drop is told, and a test
    of its own asks the opposite question, whether the success rate has left what it dropped to. That is the same
    test with everything mirrored: outcomes flipped, against the flipped level `1 - (baseline - smallest_drop)`. Its
    alarm raises `trust_recovery`, and watching begins anew with a fresh test; what was learned before the drop stays.

    The promise is per phase, and `Baseline` says what it rests on. While watching, a series whose success rate is never
    below its baseline has an alert with a probability of at most the error bound, ever. While dropped, a series that
    stays at or below `baseline - smallest_drop` is told to have recovered with a probability of at most the bound.
    After a recovery the bound holds again for the new phase.

    All of it is about verdicts of one version. Where the version changes the series begins anew and says so; what then
    still comes of an earlier version is left out, unless it comes to stay.
    """

    def __init__(self, key: SeriesKey, settings: TrustSettings, *, runs: int = 0) -> None:
        """`runs`: number of alerts of this series before, under any settings. Their ids are not used again."""
        self.key = key
        self.plan = Plan.of(settings, key)
        self.runs = runs
        """Messages told of this series."""
        self._settings = settings
        self._version: Version | None = None
        self._earlier: deque[str] = deque(maxlen=_EARLIER)
        self._stragglers = 0
        self._begin()

    @property
    def baseline(self) -> float | None:
        """The expected success rate at this hour; None while it is learned. While dropped, the one at the drop."""
        return self._baseline.rate(self._slot) if self.alert is None else self.alert.baseline

    @property
    def dropped(self) -> bool:
        """True from a drop to its recovery."""
        return self.alert is not None

    @property
    def autocorrelation(self) -> float:
        """The estimate for neighbouring verdicts; 0 before there are enough."""
        return self._baseline.autocorrelation

    @property
    def evidence_ratio(self) -> float:
        """Log evidence as a share of that at the next alert: 0 to 1."""
        return math.log(max(1.0, self._test.evidence)) / -math.log(self._settings.error_bound)

    def update(self, outcome: SeriesOutcome, now: datetime) -> Alert | SeriesAnew | None:
        """Count an outcome at the time `now`; returns what is to be told of it.

        Raises:
            Straggler: it is of an earlier version, and not counted.
        """
        anew = self._change(outcome.version, now) if outcome.version != self._version else None
        self._stragglers = 0
        self.counted += 1
        self._phase_verdicts += 1
        self._slot = slot_of(outcome.moment, self.plan.cycle)
        if self.alert is None:
            return self._watching(outcome, now) or anew
        return self._recovering(self.alert, outcome.accepted, now)

    def state(self) -> SeriesState:
        return SeriesState(
            digest=self.plan.digest,
            runs=self.runs,
            counted=self.counted,
            test=self._test.state(),
            baseline=self._baseline.state().model_dump(),
            phase_verdicts=self._phase_verdicts,
            rejected=tuple(self._rejected),
            alert=self.alert,
            slot=self._slot,
            version=None if self._version is None else dict(self._version),
            earlier=tuple(self._earlier),
            stragglers=self._stragglers,
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
            state.test, smallest_drop=settings.smallest_drop, error_bound=settings.error_bound
        )
        series._baseline.restore(BaselineState.model_validate(state.baseline))
        series.counted = state.counted
        series.alert = state.alert
        series._phase_verdicts = state.phase_verdicts
        series._rejected.extend(_Rejected(place, record) for place, record in state.rejected)
        series._slot = state.slot
        series._version = state.version
        series._earlier.extend(state.earlier)
        series._stragglers = state.stragglers
        return series

    def _begin(self) -> None:
        self.alert: Alert | None = None
        """The drop that goes on, from its alarm to its recovery."""
        self.counted = 0
        """Verdicts counted since the series began."""
        self._slot = 0
        self._baseline = Baseline(
            self.plan.rates,
            slots=SLOTS[self.plan.cycle],
            tolerance=self.plan.tolerance,
            at_least=LEARN_AT_LEAST,
        )
        self._rejected: deque[_Rejected] = deque(maxlen=_REJECTED_IN_ALERT)
        self._begin_phase()

    def _begin_phase(self) -> None:
        self._test = DropTest(smallest_drop=self._settings.smallest_drop, error_bound=self._settings.error_bound)
        self._phase_verdicts = 0
        self._rejected.clear()

    def _change(self, version: Version, now: datetime) -> SeriesAnew | None:
        """Begin anew with `version`, if it is not the first and no straggler."""
        before, self._version = self._version, version
        if before is None:
            return None
        if digest(version) in self._earlier:
            self._stragglers += 1
            if self._stragglers < _BACK_AFTER:
                self._version = before
                raise Straggler
            self._earlier.remove(digest(version))
        self._earlier.append(digest(before))
        counted, drop = self.counted, self.alert
        self._begin()
        names = sorted({*before, *version})
        changed = tuple(
            Change(name=name, before=before.get(name), after=version.get(name))
            for name in names
            if before.get(name) != version.get(name)
        )
        return self._anew(changed, counted, drop, now)

    def _watching(self, outcome: SeriesOutcome, now: datetime) -> Alert | None:
        accepted = outcome.accepted
        if outcome.rejected is not None:
            self._rejected.append(_Rejected(self._phase_verdicts, outcome.rejected))
        # The baseline must be known before the verdict that is tested against it.
        rate = self._baseline.rate(self._slot)
        alarm = rate is not None and self._test.update(accepted, self._baseline.conditional(rate), rate)
        self._baseline.learn(accepted, self._slot)
        if not alarm:
            return None
        since = self._test.since
        rejected = self._rejected_since(since.verdicts)
        self.alert = self._alert("trust_drop", since, since.accepted, now=now, rejected=rejected)
        self._begin_phase()
        return self.alert

    def _recovering(self, drop: Alert, accepted: bool, now: datetime) -> Alert | None:
        rate = self._baseline.rate(self._slot)
        alarm = False
        if rate is not None:
            # Below twice the smallest drop, half of the baseline is what the test looks for.
            mirrored = 1 - (rate - min(self._settings.smallest_drop, rate / 2))
            alarm = self._test.update(not accepted, self._baseline.conditional(mirrored, flipped=True), rate)
        self._baseline.follow(accepted)
        if not alarm:
            return None
        since = self._test.since
        alert = self._alert("trust_recovery", since, since.verdicts - since.accepted, now=now, rejected=())
        self.alert = None
        self._begin_phase()
        return alert

    def _rejected_since(self, verdicts: int) -> tuple[RejectedRecord, ...]:
        latest = list(reversed(self._rejected))
        since = [each.record for each in latest if each.place > self._phase_verdicts - verdicts]
        return tuple(since or (each.record for each in latest[:1]))

    def _alert(
        self, kind: AlertKind, since: Since, accepted: int, *, now: datetime, rejected: Sequence[RejectedRecord]
    ) -> Alert:
        self.runs += 1
        low, high = wilson(accepted, since.verdicts)
        learned: Literal["configured", "learned"] = "learned" if self.plan.rates is None else "configured"
        verb = "dropped" if kind == "trust_drop" else "is back"
        observed, baseline = accepted / since.verdicts, since.expected / since.verdicts
        judge = (self._version or {}).get("judge")
        return Alert(
            id=content_id("alert", [*self.key, self.runs, kind]),
            kind=kind,
            checker=self.key.checker,
            source=self.key.source,
            model=self.key.model,
            raised_at=now,
            baseline=min(1.0, max(0.0, baseline)),
            baseline_from=learned,
            observed=observed,
            observed_low=low,
            observed_high=high,
            verdicts=since.verdicts,
            error_bound=self._settings.error_bound,
            summary=(
                f"Trust in {self.key.model} at {self.key.source} {verb}: {self.key.checker} accepted {observed:.1%} "
                f"of the last {since.verdicts} outputs (95% interval {low:.1%} to {high:.1%}), "
                f"against a {learned} baseline of {baseline:.1%}."
                f"{f' Decided by {TOLD}.' if judge and is_bundled(judge) else ''}"
            ),
            judge=judge or None,
            rejected=tuple(rejected),
        )

    def _anew(self, changed: tuple[Change, ...], counted: int, drop: Alert | None, now: datetime) -> SeriesAnew:
        self.runs += 1
        parts = ", ".join(f"{each.name} from {each.before} to {each.after}" for each in changed)
        ended = "" if drop is None else " The drop that was going on is not told of any more."
        return SeriesAnew(
            id=content_id("alert", [*self.key, self.runs, "series_anew"]),
            checker=self.key.checker,
            source=self.key.source,
            model=self.key.model,
            raised_at=now,
            changed=changed,
            verdicts=counted,
            ended_drop=None if drop is None else drop.id,
            summary=(
                f"{self.key.checker} on {self.key.model} at {self.key.source} begins anew: its verdicts do not compare "
                f"with those before, {parts}.{ended}"
            ),
        )
