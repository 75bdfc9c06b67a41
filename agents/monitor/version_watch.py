"""The versions of an application in one series: their verdicts, and whether the latest is worse than the one before."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from agents.monitor.outcomes import SeriesKey, SeriesOutcome, changes, said
from agents.monitor.versions import MOST, Traffic, change, count_traffic, each_with_change, judged_rate, unlike
from checkers.intervals import wilson
from schemas import Alert, AlertKind, RejectedRecord, VersionRate, VersionRates, content_id

if TYPE_CHECKING:
    from agents.monitor.trust_series import Plan

_OVER_AFTER: Final = 50  # So many times the usual number of verdicts from one on it to the next: it was rolled back.
_REJECTED_IN_ALERT: Final = 10
_STORED: Final = ConfigDict(extra="forbid")


@dataclass(config=_STORED)
class VersionCount:
    """The verdicts on one version, under one checker's version, configuration and judge."""

    number: int  # Which version of the series it is, counted from 1.
    compares: str  # The same for versions whose verdicts compare.
    version: dict[str, str]
    first_at: datetime
    verdicts: int = 0
    accepted: int = 0
    traffic: Traffic = Field(default_factory=dict)
    rejected: list[RejectedRecord] = Field(default_factory=list)  # The latest.

    def count(self, outcome: SeriesOutcome) -> None:
        self.verdicts += 1
        self.accepted += outcome.accepted
        count_traffic(self.traffic, outcome)
        if outcome.rejected is not None:
            self.rejected = [*self.rejected[1 - _REJECTED_IN_ALERT :], outcome.rejected]

    def rate(self, dispersion: float) -> VersionRate:
        return judged_rate(self.version, self.first_at, (self.verdicts, self.accepted), self.traffic, dispersion)


@dataclass(config=_STORED)
class VersionWatch:
    """Compares the latest version with the one that came before it, after every verdict, in bounded memory.

    When it is proved to be worse by more than the tolerance on traffic that is alike, that raises `version_worse`; and
    `version_recovery` when it is not proved any more, or others alone have verdicts. A newer version ends it without a
    word, as it begins a series that is told of. A version that is as good ever raises an alert with a probability of
    at most the error bound, for large numbers; that it holds for small ones is simulated.
    """

    counts: dict[str, VersionCount] = Field(default_factory=dict)  # Those without a verdict for longest come first.
    begun: int = 0  # Versions so far.
    alert: Alert | None = None  # That the latest version is worse, from its alarm to its end.
    since: int = 0  # Verdicts since the latest version began.
    others: int = 0  # Verdicts in a row of other versions than that.

    def count(self, outcome: SeriesOutcome, ids: Sequence[str]) -> None:
        """Count an outcome; `ids`: of what its verdict compares with, and of its version."""
        own = self.counts.pop(ids[1], None)
        if own is None:
            self.begun, self.alert, self.since = self.begun + 1, None, 0
            own = VersionCount(self.begun, ids[0], outcome.release, outcome.checked_at)
        self.counts[ids[1]] = own
        if len(self.counts) > MOST:
            del self.counts[next(iter(self.counts))]
        own.count(outcome)
        self.since += 1
        self.others = 0 if own.number == self.begun else self.others + 1

    def compared(
        self, outcome: SeriesOutcome, plan: "Plan", dispersion: float, now: datetime, *, run: int
    ) -> Alert | None:
        """Compare, after `outcome` was counted; returns what that raises, under the number `run`.

        Evidence is divided by `dispersion`.
        """
        found = self._alike()
        if len(found) < 2:
            return None
        earlier, later = found[-2:]
        # That the version is as good, as most are, is seen at once.
        as_good = later.accepted * earlier.verdicts >= earlier.accepted * later.verdicts
        if self.alert is None and (as_good or self.others):
            return None
        before, after = earlier.rate(dispersion), later.rate(dispersion)
        # Half of the error is on the other side, where a version is better.
        proved = change(before, after, 2 * plan.error_bound)
        if self.alert is not None:
            if proved is None or proved.high >= 0 or self.others * later.verdicts >= _OVER_AFTER * self.since:
                self.alert = None
                return _alert(outcome, before, after, plan, now=now, run=run)
        elif proved is not None and proved.high < -plan.tolerance and not unlike(before, after):
            rejected = tuple(later.rejected[::-1])
            self.alert = _alert(outcome, before, after, plan, now=now, run=run, rejected=rejected)
            return self.alert
        return None

    def rates(self, key: SeriesKey, dispersion: float, now: datetime) -> VersionRates | None:
        """The rates of the versions that compare with the last verdict's; None unless there are two."""
        found = [each.rate(dispersion) for each in self._alike()]
        if len(found) < 2:
            return None
        id_ = content_id("versions", [*key, *(each.verdicts for each in found)])
        return VersionRates(**key._asdict(), id=id_, updated_at=now, versions=each_with_change(found))

    def _alike(self) -> list[VersionCount]:
        """The versions whose verdicts compare with the last one, in the order of their first verdicts."""
        latest = next(reversed(self.counts.values()), None)
        found = (each for each in self.counts.values() if latest is not None and each.compares == latest.compares)
        return sorted(found, key=lambda each: each.number)


def _alert(
    outcome: SeriesOutcome,
    before: VersionRate,
    after: VersionRate,
    plan: "Plan",
    *,
    now: datetime,
    run: int,
    rejected: tuple[RejectedRecord, ...] | None = None,
) -> Alert:
    """The alert that the version is worse, with what was rejected, or without it that this is over."""
    kind: AlertKind = "version_recovery" if rejected is None else "version_worse"
    key, changed, difference = outcome.key, changes(before.version, after.version), change(before, after)
    low, high = wilson(round(after.rate * after.verdicts), after.verdicts)
    is_ = "is not in use or not worse any more, compared with" if rejected is None else "is worse than"
    interval = "" if difference is None else f" (95% interval {difference.low:+.1%} to {difference.high:+.1%})"
    return Alert(
        **key._asdict(),
        id=content_id("alert", [*key, run, kind, outcome.verdict_id]),
        kind=kind,
        raised_at=now,
        baseline=before.rate,
        baseline_from="version",
        tolerance=plan.tolerance,
        observed=after.rate,
        observed_low=low,
        observed_high=high,
        verdicts=after.verdicts,
        error_bound=plan.error_bound,
        difference=difference,
        changed=changed,
        summary=(
            f"The latest version of {key.model} at {key.source} {is_} the one before it: {said(changed)}. "
            f"{key.checker} accepted {after.rate:.1%} of its {after.verdicts} outputs, against {before.rate:.1%} of "
            f"{before.verdicts}: {after.rate - before.rate:+.1%}{interval}."
        ),
        judge=outcome.version.get("judge") or None,
        rejected=rejected or (),
    )
