"""One series: the verdicts of one checker on one subject, version by version, and whether its success rate dropped."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from agents.trust.outcomes import METADATA, SeriesKey, SeriesOutcome, Version
from agents.trust.settings import BaselineEntry, TrustSettings
from agents.trust.watch import LEARN_AT_LEAST, Terms, Watch, WatchState
from checkers.intervals import wilson
from models.local.settings import TOLD, is_bundled
from schemas import Alert, AlertKind, Change, RejectedRecord, SeriesAnew, content_id, digest

_VERSION: Final = 1
"""The version of the kept state; raised when a change makes an older state mean something else."""

_MOST: Final = 6
"""Versions that are watched side by side; the one that was longest without a verdict makes room."""

_OVER_AFTER: Final = 50
"""So many verdicts in a row of other versions end the drop of one: it was rolled back."""


class Plan(NamedTuple):
    """The settings of one series."""

    rate: float | None
    """The configured baseline; None where it is learned."""
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
            entry.rate,
            entry.tolerance,
            LEARN_AT_LEAST if entry.rate is None else None,
        ]
        return cls(entry.rate, entry.tolerance, digest(content)[:16])


class SeriesState(BaseModel):
    """The stored state of a series."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    runs: int
    counted: int
    alert: Alert | None
    """The drop that goes on."""
    version: dict[str, str] | None
    watches: tuple[tuple[str, WatchState], ...]
    given_for: str
    dropped: str
    without: int


class Series:
    """Watches one subject under one checker, verdict by verdict, in bounded memory.

    Verdicts compare that have the checker's version, configuration and judge in common: they are watched together, and
    those of one version of the application, where records tell it, also by themselves. So a release is held against all
    before it as well, and what runs side by side is all counted. A configured rate is that of the first judge and
    configuration: of others the rate is learned, as nobody has given it.

    It is in one of two phases. While *watching*, the alarm of a version's test raises `trust_drop`. The series is then
    *dropped*: no further drop is told, and that version's test asks the opposite question, whether the success rate
    has left what it dropped to: outcomes flipped, against the flipped level `1 - (baseline - smallest_drop)`. Its alarm
    raises `trust_recovery`, and watching begins anew with a fresh test; what was learned before the drop stays.

    The promise is per phase and version, and `Baseline` says what it rests on. While watching, verdicts whose success
    rate is never below their baseline raise an alert with a probability of at most the error bound, ever; it is halved
    where verdicts are watched twice. While dropped, a series that stays at or below `baseline - smallest_drop` is told
    to have recovered with a probability of at most the bound.
    """

    def __init__(self, key: SeriesKey, settings: TrustSettings, *, runs: int = 0) -> None:
        """`runs`: number of alerts of this series before, under any settings. Their ids are not used again."""
        self.key = key
        self.plan = Plan.of(settings, key)
        self.runs = runs
        """Messages told of this series."""
        self.counted = 0
        """Verdicts counted since the series began."""
        self.alert: Alert | None = None
        """The drop that goes on, from its alarm to its recovery."""
        self._settings = settings
        self._version: Version | None = None
        self._ids: tuple[str, ...] = ()
        self._watches: OrderedDict[str, Watch] = OrderedDict()
        self._given_for = ""
        self._dropped = ""
        self._without = 0

    @property
    def baseline(self) -> float | None:
        """The expected success rate at this hour; None while it is learned. While dropped, the one at the drop."""
        if self.alert is not None:
            return self.alert.baseline
        return self.plan.rate if self._version is None else self._whole.baseline.rate()

    @property
    def dropped(self) -> bool:
        """True from a drop to its recovery."""
        return self.alert is not None

    @property
    def dispersion(self) -> float:
        """The factor by which neighbouring verdicts scatter more than independent ones; evidence is divided by it."""
        return 1.0 if self._version is None else self._whole.baseline.dispersion

    @property
    def allowance(self) -> float:
        """The part by which less is expected, as days differ."""
        return 0.0 if self._version is None else self._whole.baseline.allowance

    @property
    def evidence_ratio(self) -> float:
        """Log evidence as a share of that at the next alert: 0 to 1; of the version that is nearest."""
        return max((each.evidence_ratio for each in self._watches.values()), default=0.0)

    def update(self, outcome: SeriesOutcome, now: datetime) -> Alert | SeriesAnew | None:
        """Count an outcome at the time `now`; returns what is to be told of it."""
        self.counted += 1
        anew = self._arrive(outcome.version, now)
        ids = self._ids
        told: Alert | None = None
        for id_ in ids:
            watch = self._watches[id_]
            dropped = self.alert is not None and id_ == self._dropped
            alarm = watch.update(outcome.accepted, outcome.rejected, min(outcome.moment, now), dropped=dropped)
            # Of two messages one waits: after an alarm a test stands.
            if not alarm or anew is not None or told is not None:
                continue
            if dropped:
                told, self.alert = self._alert("trust_recovery", watch, now, ()), None
                watch.begin_phase()
            elif self.alert is None:
                self.alert = told = self._alert("trust_drop", watch, now, watch.rejected_since)
                self._dropped, self._without = id_, 0
                watch.drop()
            else:
                watch.begin_phase()
        return told or anew

    def state(self) -> SeriesState:
        return SeriesState(
            digest=self.plan.digest,
            runs=self.runs,
            counted=self.counted,
            alert=self.alert,
            version=None if self._version is None else dict(self._version),
            watches=tuple((id_, watch.state()) for id_, watch in self._watches.items()),
            given_for=self._given_for,
            dropped=self._dropped,
            without=self._without,
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
        series.counted, series.alert, series._version = state.counted, state.alert, state.version
        series._given_for, series._dropped, series._without = state.given_for, state.dropped, state.without
        for id_, kept in state.watches:
            series._watches[id_] = Watch.from_state(kept, series._terms(kept.version))
        if series._version is not None:
            series._ids = _ids(series._version)
        if any(id_ not in series._watches for id_ in (*series._ids, *filter(None, [state.alert and state.dropped]))):
            raise ValueError("the state is without its latest version, or the one that dropped")
        return series

    @property
    def _whole(self) -> Watch:
        """All verdicts that compare with the latest."""
        return self._watches[self._ids[0]]

    def _terms(self, version: Version) -> Terms:
        ids = _ids(version)
        rate = self.plan.rate if ids[0] == self._given_for else None
        bound = self._settings.error_bound / len(ids)
        return Terms(rate, self.plan.tolerance, self._settings.smallest_drop, bound)

    def _arrive(self, version: Version, now: datetime) -> SeriesAnew | None:
        """Begin to watch `version` if it is not watched; end the drop of one that is over."""
        if version == self._version and (self.alert is None or self._dropped in self._ids):
            self._without = 0
            return None
        before, self._version = self._version or version, version
        counted = self._watches[self._ids[-1]].counted if self._ids else 0
        self._ids = ids = _ids(version)
        self._given_for = self._given_for or ids[0]
        new = ids[-1] not in self._watches and bool(self._watches)
        for id_ in ids:
            if id_ not in self._watches:
                self._watches[id_] = Watch(version, self._terms(version))
            self._watches.move_to_end(id_)
        self._without = 0 if self._dropped in ids else self._without + 1
        drop = self.alert if new or self._without >= _OVER_AFTER else None
        if drop is not None:
            before = before if new else self._watches[self._dropped].version
            self._watches[self._dropped].begin_phase()
            self.alert = None
        while len(self._watches) > _MOST:
            self._watches.popitem(last=False)
        return self._anew(_changes(before, version), counted, drop, now, new=new) if new or drop else None

    def _alert(self, kind: AlertKind, watch: Watch, now: datetime, rejected: Sequence[RejectedRecord]) -> Alert:
        self.runs += 1
        since, terms, allowance = watch.since, watch.terms, watch.baseline.allowance
        drop = kind == "trust_drop"
        accepted = since.accepted if drop else since.verdicts - since.accepted
        low, high = wilson(accepted, since.verdicts)
        observed, baseline = accepted / since.verdicts, since.expected / since.verdicts
        version = self._version or {}
        judge = version.get("judge")
        changed = _changes(self._whole.version, version)
        less = f"{terms.tolerance:.1%} less is tolerated"
        if allowance:
            less += f", and {allowance:.1%} as its days differ by themselves"
        notes = [f"Decided by {TOLD}."] if judge and is_bundled(judge) else []
        if changed:
            notes.append(f"Since the baseline began: {_said(changed)}.")
        if drop and not watch.baseline.week_seen:
            hour = f"{watch.baseline.hour:%A at %H:00} UTC"
            notes.append(f"It could be the time of day: first {hour}, as no full week was seen yet.")
        return Alert(
            id=content_id("alert", [*self.key, self.runs, kind]),
            kind=kind,
            checker=self.key.checker,
            source=self.key.source,
            model=self.key.model,
            raised_at=now,
            baseline=min(1.0, max(0.0, baseline)),
            baseline_from=watch.learned,
            tolerance=terms.tolerance,
            allowance=allowance,
            observed=observed,
            observed_low=low,
            observed_high=high,
            verdicts=since.verdicts,
            error_bound=self._settings.error_bound,
            changed=changed,
            summary=(
                f"Trust in {self.key.model} at {self.key.source} {'dropped' if drop else 'is back'}: "
                f"{self.key.checker} accepted {observed:.1%} of the last {since.verdicts} outputs (95% interval "
                f"{low:.1%} to {high:.1%}), against a {watch.learned} baseline of {baseline:.1%} "
                f"({' '.join([less + ').', *notes])}"
            ),
            judge=judge or None,
            rejected=tuple(rejected),
        )

    def _anew(
        self, changed: tuple[Change, ...], counted: int, drop: Alert | None, now: datetime, *, new: bool
    ) -> SeriesAnew:
        self.runs += 1
        if not new:
            begins = "goes on with an earlier version"
        elif self._whole.counted:
            begins = "begins anew, and is held against the verdicts before as well"
        else:
            begins = "begins anew: its verdicts do not compare with those before"
        given = (
            " The configured rate was given for another, so it is learned until the entry changes."
            if self.plan.rate is not None and self._ids[0] != self._given_for
            else ""
        )
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
                f"{self.key.checker} on {self.key.model} at {self.key.source} {begins}; {_said(changed)}.{given}{ended}"
            ),
        )


def _ids(version: Version) -> tuple[str, ...]:
    """Under which verdicts of a version are watched: whatever the application's version is, and by that."""
    whole = {name: "" if name.startswith(METADATA) else value for name, value in version.items()}
    return tuple(dict.fromkeys((digest(whole)[:16], digest(dict(version))[:16])))


def _changes(before: Version, after: Version) -> tuple[Change, ...]:
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return tuple(Change(name=name, before=before.get(name), after=after.get(name)) for name in names)


def _said(changed: Sequence[Change]) -> str:
    return ", ".join(f"{each.name} from {each.before} to {each.after}" for each in changed)
