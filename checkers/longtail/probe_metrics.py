"""Prometheus metrics of answers to probes: right and wrong by what was asked, and the gap between head and tail."""

from collections import OrderedDict, defaultdict
from functools import partial
from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge

from checkers.intervals import difference
from checkers.plugin import SubjectLabels
from schemas import Abstention, ProbeEvidence, Verdict

WINDOW = 200
"""Probes of the head, and as many of the tail, that the gap is taken over: the latest. Fewer would hide a gap of 10
points in their interval, and with more, what has changed would be noticed later."""

_SHOWN_FROM = 50
"""Probes of each side before there is a gap to show: with fewer, anything may be by chance."""

_OTHER = "other"
"""The label beyond a maximum, of domains as of subjects."""

_MAX_DOMAINS = 20
"""Domains that have their own label; corpora have a handful."""

Sign: TypeAlias = Literal["all", "positive", "negative"]


class GapWindow:
    """The latest answers of one subject, head and tail apart."""

    def __init__(self) -> None:
        self._sides: dict[str, OrderedDict[str, bool | None]] = {"head": OrderedDict(), "tail": OrderedDict()}

    def add(self, distribution: str, verdict_id: str, right: bool | None) -> None:
        """Count an answer, None for one that could not be read; one that is delivered again counts once."""
        side = self._sides[distribution]
        side[verdict_id] = right
        if len(side) > WINDOW:
            side.popitem(last=False)

    @property
    def gap(self) -> tuple[float, float, float] | None:
        """Accuracy on the head less accuracy on the tail, and its 95% interval; None while there are too few."""
        read = [[right for right in self._sides[one].values() if right is not None] for one in ("head", "tail")]
        (head_right, head), (tail_right, tail) = ((sum(side), len(side)) for side in read)
        if min(head, tail) < _SHOWN_FROM:
            return None
        return head_right / head - tail_right / tail, *difference((head_right, head), (tail_right, tail))

    def unread(self, distribution: str) -> float:
        """The share of answers that could not be read."""
        side = self._sides[distribution].values()
        return sum(right is None for right in side) / len(side)


class ProbeMetrics:
    """Counts verdicts on probes."""

    def __init__(self, registry: CollectorRegistry, labels_of: SubjectLabels) -> None:
        self._labels_of = labels_of
        gauge = partial(Gauge, labelnames=["source", "model", "polarity"], registry=registry)
        self._verdicts = Counter(
            "assay_probe_verdicts",
            "Answers to probes that were right (accept) or wrong (reject)",
            ["source", "model", "domain", "distribution", "polarity", "outcome"],
            registry=registry,
        )
        self._gap = gauge(
            "assay_probe_gap_ratio",
            "Accuracy on common facts (head) less accuracy on rare ones (tail), over the latest 200 probes of each",
        )
        self._lower = gauge("assay_probe_gap_lower_ratio", "Lower end of the 95% interval of assay_probe_gap_ratio")
        self._upper = gauge("assay_probe_gap_upper_ratio", "Upper end of the 95% interval of assay_probe_gap_ratio")
        self._unread = Gauge(
            "assay_probe_unread_ratio",
            "Share of the latest 200 probes of a side without an answer that could be read; not counted in the gap",
            ["source", "model", "polarity", "distribution"],
            registry=registry,
        )
        self._domains: set[str] = set()
        self._windows: defaultdict[tuple[str, str, Sign], GapWindow] = defaultdict(GapWindow)

    def verdict(self, verdict: Verdict) -> None:
        """Count a delivered verdict, if it is one on a probe."""
        found = verdict.evidence
        evidence = found.probe if isinstance(found, Abstention) else found
        if not isinstance(evidence, ProbeEvidence):
            return
        subject = self._labels_of(verdict.source, verdict.model)
        domain, distribution = self._domain(evidence.domain), evidence.distribution or "unknown"
        for outcome in ("accept", "reject") if evidence is found else ():
            # Both begin at once, so that the first wrong answer is an increase.
            self._verdicts.labels(*subject, domain, distribution, evidence.polarity, outcome).inc(
                outcome == verdict.outcome
            )
        # The subjects beyond the maximum have nothing in common.
        if evidence.distribution is not None and subject != (_OTHER, _OTHER):
            right = None if verdict.outcome == "abstain" else verdict.outcome == "accept"
            polarities: tuple[Sign, Sign] = ("all", evidence.polarity)
            for polarity in polarities:
                self._show(subject, polarity, evidence.distribution, verdict.id, right)

    def _show(
        self, subject: tuple[str, str], polarity: Sign, distribution: str, verdict_id: str, right: bool | None
    ) -> None:
        window = self._windows[*subject, polarity]
        window.add(distribution, verdict_id, right)
        self._unread.labels(*subject, polarity, distribution).set(window.unread(distribution))
        found = window.gap
        if found is not None:
            for gauge, value in zip((self._gap, self._lower, self._upper), found, strict=True):
                gauge.labels(*subject, polarity).set(value)

    def _domain(self, name: str | None) -> str:
        if name is None:
            return "unknown"
        if name not in self._domains:
            if len(self._domains) >= _MAX_DOMAINS:
                return _OTHER
            self._domains.add(name)
        return name
