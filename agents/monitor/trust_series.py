"""One series: the verdicts of one checker on one subject, version by version, and whether its success rate dropped."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from agents.monitor.baseline import Baseline
from agents.monitor.drop_test import SMALLEST_DROP, DropTest, Since
from agents.monitor.outcomes import RecentVerdicts, SeriesKey, SeriesOutcome, Version
from agents.monitor.settings import BaselineEntry, TrustSettings
from agents.monitor.versions import VersionCount, change, counted, ids_of, rates
from checkers.intervals import wilson
from schemas import Alert, Measured, RejectedRecord, SeriesAnew, content_id
from schemas.alerts import AlertKind, Change
from schemas.base import BUNDLED_NOTE, is_bundled

FIRST_WEEK_COUNTS: Final = 0.7  # Share of the first week's evidence that counts after it: it may be the week's own way.
_MOST: Final = 6  # Versions that are watched side by side; the one that was longest without a verdict makes room.
_OVER_AFTER: Final = 50  # So many verdicts in a row of other versions end the drop of one: it was rolled back.
_REJECTED_IN_ALERT: Final = 10
_STORED: Final = ConfigDict(extra="forbid")
_TITLES: Final[Mapping[AlertKind, str]] = {
    "trust_drop": "Trust in {key.model} at {key.source} dropped",
    "trust_recovery": "Trust in {key.model} at {key.source} is back",
    "version_worse": "The latest version of {key.model} at {key.source} is worse than the one before",
}


class Plan(NamedTuple):
    """The settings that decide about one series; it goes on only under those that it was begun with."""

    rate: float | None  # The configured baseline; None where it is learned.
    tolerance: float
    error_bound: float

    @classmethod
    def of(cls, settings: TrustSettings, key: SeriesKey) -> "Plan":
        """The first entry that matches counts."""
        entry = next((entry for entry in settings.baselines if entry.matches(*key)), BaselineEntry())
        return cls(entry.rate, entry.tolerance, settings.error_bound)


@dataclass(config=_STORED)
class VersionTest:
    """Holds each verdict against the baseline, by one `DropTest` a phase, and by its mirror image after a drop."""

    version: dict[str, str]  # That of its first verdict.
    baseline: Baseline
    test: DropTest
    counted: int = 0
    # The latest, each with which verdict of the test it was, counted from 1.
    rejected: list[tuple[int, RejectedRecord]] = Field(default_factory=list)

    @classmethod
    def begin(cls, version: Version, plan: Plan) -> "VersionTest":
        return cls(dict(version), Baseline(plan.rate, tolerance=plan.tolerance), DropTest(plan.error_bound))

    def begin_phase(self) -> None:
        """Begin another test, with what was learned."""
        self.test = DropTest(self.test.error_bound)
        self.rejected.clear()
        self.baseline.held = None

    @property
    def evidence_ratio(self) -> float:
        """Log evidence as a share of that at the next alert: 0 to 1."""
        return math.log(max(1.0, self.test.evidence)) / -math.log(self.test.error_bound)

    @property
    def rejected_since(self) -> tuple[RejectedRecord, ...]:
        """The latest rejected records since the likeliest change, or the latest one."""
        first = self.test.verdicts - self.test.since.verdicts
        since = [record for place, record in self.rejected[:-1] if place > first]
        return tuple(record for _, record in self.rejected[-1:]) + tuple(since[::-1])

    def update(self, accepted: bool, rejected: RejectedRecord | None, moment: datetime, *, dropped: bool) -> bool:
        """Count a verdict; whether there is proof of a drop or, while `dropped`, of a recovery."""
        self.counted += 1
        baseline = self.baseline
        if baseline.at(moment):
            self.test.discount(FIRST_WEEK_COUNTS)
        alarm = False
        # The baseline must be known before the verdict that is tested against it.
        if (rate := baseline.rate()) is not None:
            # Below twice the smallest drop, half of the baseline is what the test looks for.
            tested = 1 - (rate - min(SMALLEST_DROP, rate / 2)) if dropped else rate
            alarm = self.test.update(accepted is not dropped, tested, rate, share=1 / baseline.dispersion)
        baseline.learn(accepted)
        if rejected is not None:
            self.rejected = [*self.rejected[1 - _REJECTED_IN_ALERT :], (self.test.verdicts, rejected)]
        return alarm


@dataclass(config=_STORED)
class TrustSeries:
    """Watches one subject under one checker, verdict by verdict, in bounded memory.

    Verdicts compare that have the checker's version, configuration and judge in common: they are watched together, and
    those of one version of the application also by themselves. A configured rate is that of the first judge and
    configuration: other rates are learned.

    While *watching*, the alarm of a version's test raises `trust_drop`. While *dropped*, that test has outcomes
    flipped, against the level `1 - (baseline - SMALLEST_DROP)`; its alarm raises `trust_recovery`, and watching begins
    with a fresh test and what was learned before the drop.

    The promise is per phase and version: while watching, verdicts whose success rate is never below their baseline
    raise an alert with a probability of at most the error bound, ever; it is halved where verdicts are watched twice.
    While dropped, a series that stays at or below `baseline - SMALLEST_DROP` recovers with at most that probability.
    The latest version raises `version_worse`, once, if it is proved to be worse than the one before by more than the
    tolerance, on traffic that is alike. One as good ever does so with at most that probability.
    """

    plan: Plan
    runs: int = 0  # Messages about this series, under any settings: their ids are not used again.
    counted: int = 0
    alert: Alert | None = None  # The drop that goes on, from its alarm to its recovery.
    version: dict[str, str] | None = None  # That of the latest verdict.
    tests: dict[str, VersionTest] = Field(default_factory=dict)  # Those without a verdict for longest come first.
    given_for: str = ""  # The first judge and configuration.
    dropped_id: str = ""  # The version whose drop it is, or was.
    without: int = 0  # Verdicts in a row of other versions than that.
    recent: RecentVerdicts = Field(default_factory=RecentVerdicts)
    versions: list[VersionCount] = Field(default_factory=list)  # Those with the latest verdicts, the last one's last.
    told: str = ""  # The version that was told of as worse.

    def __post_init__(self) -> None:
        self._ids = () if self.version is None else ids_of(self.version)

    @property
    def baseline(self) -> float | None:
        """The expected success rate at this hour; None while it is learned. While dropped, the one at the drop."""
        if self.alert is not None:
            return self.alert.baseline
        return self.plan.rate if self.version is None else self._whole.baseline.rate()

    @property
    def dropped(self) -> bool:
        return self.alert is not None

    @property
    def dispersion(self) -> float:
        return 1.0 if self.version is None else self._whole.baseline.dispersion

    @property
    def allowance(self) -> float:
        return 0.0 if self.version is None else self._whole.baseline.allowance

    @property
    def evidence_ratio(self) -> float:
        """That of the version that is nearest to an alert."""
        return max((each.evidence_ratio for each in self.tests.values()), default=0.0)

    def update(self, outcome: SeriesOutcome, now: datetime) -> Alert | SeriesAnew | None:
        """Count an outcome at the time `now`; returns what it raises."""
        self.counted += 1
        self.recent.add(outcome.accepted, outcome.attributes)
        new_series = self._arrive(outcome, now)
        raised: Alert | None = None
        for id_ in self._ids:
            test = self.tests[id_]
            dropped = self.alert is not None and id_ == self.dropped_id
            alarm = test.update(outcome.accepted, outcome.rejected, min(outcome.moment, now), dropped=dropped)
            # Of two messages one waits: after an alarm a test does not change.
            if not alarm or new_series is not None or raised is not None:
                continue
            if dropped:
                raised, self.alert = self._moved("trust_recovery", outcome, test, now), None
            elif self.alert is None:
                self.alert = raised = self._moved("trust_drop", outcome, test, now)
                self.dropped_id, self.without = id_, 0
            test.begin_phase()
            if self.alert is not None and id_ == self.dropped_id:
                test.baseline.hold()
        if len(self._ids) > 1:
            self.versions = counted(self.versions, outcome, self._ids)
            # Only a reject can make a version look worse.
            if not (raised or new_series or outcome.accepted or self.told == self._ids[1]):
                raised = self._worse(outcome, now)
        return raised or new_series

    def _worse(self, outcome: SeriesOutcome, now: datetime) -> Alert | None:
        """The alert that the outcome's version is the latest, and worse than the one before."""
        *_, before, after = (None, *rates(self.versions, self.dispersion))
        if before is None or after.version != self.versions[-1].version or after.change is None or after.unlike:
            return None
        # Half of the error is on the other side, where a version is better.
        if change(before.judged, after.judged, 2 * self.plan.error_bound).high >= -self.plan.tolerance:
            return None
        self.told = self._ids[1]
        number, changed = after.verdicts, _changes(before.version, after.version)
        seen = Since(number, round(after.judged.rate * number), before.judged.rate * number)
        difference = change(before.judged, after.judged)
        notes = [f"Its version differs: {_said(changed)}."]
        return self._alert("version_worse", outcome, self.tests[self.told], now, seen, changed, notes, difference)

    @property
    def _whole(self) -> VersionTest:
        """All verdicts that compare with the latest."""
        return self.tests[self._ids[0]]

    def _begin(self, version: Version, ids: Sequence[str]) -> VersionTest:
        rate = self.plan.rate if ids[0] == self.given_for else None
        return VersionTest.begin(version, self.plan._replace(rate=rate, error_bound=self.plan.error_bound / len(ids)))

    def _arrive(self, outcome: SeriesOutcome, now: datetime) -> SeriesAnew | None:
        """Begin to watch the outcome's version if it is not watched; end the drop of one that is over."""
        version = outcome.version
        if version == self.version and (self.alert is None or self.dropped_id in self._ids):
            self.without = 0
            return None
        before, self.version = self.version or version, version
        before_it = self.tests[self._ids[-1]].counted if self._ids else 0
        self._ids = ids = ids_of(version)
        self.given_for = self.given_for or ids[0]
        new = ids[-1] not in self.tests and bool(self.tests)
        for id_ in ids:
            self.tests[id_] = self.tests.pop(id_) if id_ in self.tests else self._begin(version, ids)
        self.without = 0 if self.dropped_id in ids else self.without + 1
        drop = self.alert if new or self.without >= _OVER_AFTER else None
        if drop is not None:
            before = before if new else self.tests[self.dropped_id].version
            self.tests[self.dropped_id].begin_phase()
            self.alert = None
        for id_ in list(self.tests)[:-_MOST]:
            del self.tests[id_]
        return self._anew(outcome, before, drop, now, counted=before_it, new=new) if new or drop else None

    def _moved(
        self, kind: Literal["trust_drop", "trust_recovery"], outcome: SeriesOutcome, test: VersionTest, now: datetime
    ) -> Alert:
        """The alert on a drop, or on its recovery, that a version's test has proved."""
        since, drop = test.test.since, kind == "trust_drop"
        if not drop:
            since = since._replace(accepted=since.verdicts - since.accepted)
        changed = _changes(self._whole.version, outcome.version)
        notes = [f"Since the baseline began: {_said(changed)}."] if changed else []
        if drop and not test.baseline.week_seen:
            hour = f"{datetime.fromtimestamp(3600 * test.baseline.latest, UTC):%A at %H:00} UTC"
            notes.append(f"It could be the time of day: first {hour}, as no full week was seen yet.")
        return self._alert(kind, outcome, test, now, since, changed, notes)

    def _alert(  # noqa: PLR0917 - what an alert says
        self,
        kind: AlertKind,
        outcome: SeriesOutcome,
        test: VersionTest,
        now: datetime,
        since: Since,
        changed: tuple[Change, ...],
        notes: Sequence[str],
        difference: Measured | None = None,
    ) -> Alert:
        key, judge, self.runs = outcome.key, outcome.version.get("judge"), self.runs + 1
        title, recovered = _TITLES[kind].format(key=key), kind == "trust_recovery"
        baseline_from: Literal["configured", "learned", "version"] = "version"
        allowance, tolerance = 0.0, self.plan.tolerance
        if kind != "version_worse":
            baseline_from = "learned" if test.baseline.given is None else "configured"
            allowance = test.baseline.allowance
        baseline, observed = since.expected / since.verdicts, since.accepted / since.verdicts
        low, high = wilson(since.accepted, since.verdicts)
        less = f", and {allowance:.1%} as its days differ by themselves" if allowance else ""
        of_judge = [f"It was {BUNDLED_NOTE}."] if judge and is_bundled(judge) else []
        summary = (
            f"{title}: {key.checker} accepted {observed:.1%} of the last {since.verdicts} outputs (95% interval "
            f"{low:.1%} to {high:.1%}), against a {baseline_from} baseline of {baseline:.1%} "
            f"({tolerance:.1%} less is tolerated{less})."
        )
        return Alert(
            **key._asdict(),
            id=content_id("alert", [*key, self.runs, kind, outcome.verdict_id]),
            kind=kind,
            raised_at=now,
            baseline=min(1.0, max(0.0, baseline)),
            baseline_from=baseline_from,
            tolerance=tolerance,
            allowance=allowance,
            observed=observed,
            observed_low=low,
            observed_high=high,
            verdicts=since.verdicts,
            error_bound=self.plan.error_bound,
            changed=changed,
            difference=difference,
            summary=" ".join((summary, *of_judge, *notes)),
            judge=judge or None,
            common=() if recovered else self.recent.common(),
            rejected=() if recovered else test.rejected_since,
        )

    def _anew(
        self, outcome: SeriesOutcome, before: Version, drop: Alert | None, now: datetime, *, counted: int, new: bool
    ) -> SeriesAnew:
        key, changed, self.runs = outcome.key, _changes(before, outcome.version), self.runs + 1
        begins = "begins a new series: its verdicts do not compare with those before"
        if not new:
            begins = "goes on with an earlier version"
        elif self._whole.counted:
            begins = "begins a new series, and is compared with the verdicts before as well"
        notes = [f"{key.checker} on {key.model} at {key.source} {begins}; {_said(changed)}."]
        if self.plan.rate is not None and self._ids[0] != self.given_for:
            notes.append("The configured rate was given for another, so it is learned until the entry changes.")
        if drop is not None:
            notes.append("The drop that was going on is not reported any more.")
        return SeriesAnew(
            **key._asdict(),
            id=content_id("alert", [*key, self.runs, "series_anew", outcome.verdict_id]),
            raised_at=now,
            changed=changed,
            verdicts=counted,
            ended_drop=None if drop is None else drop.id,
            summary=" ".join(notes),
        )


def _changes(before: Version, after: Version) -> tuple[Change, ...]:
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return tuple(Change(name=name, before=before.get(name), after=after.get(name)) for name in names)


def _said(changed: Sequence[Change]) -> str:
    return ", ".join(f"{each.name} from {each.before} to {each.after}" for each in changed)
