"""Prometheus metrics of answers to probes: right and wrong by what was asked, and the gap between head and tail."""

from collections import defaultdict
from functools import partial

from cachetools import FIFOCache
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
        self._latest = defaultdict[tuple[str, str, str, str], FIFOCache[str, bool | None]](lambda: FIFOCache(WINDOW))
        """Whether answers were right, by verdict: one that is delivered again counts once. None: it was not read."""

    def verdict(self, verdict: Verdict) -> None:
        """Count a delivered verdict, if it is one on a probe."""
        found = verdict.evidence
        evidence = found.probe if isinstance(found, Abstention) else found
        if not isinstance(evidence, ProbeEvidence):
            return
        subject, side = self._labels_of(verdict.source, verdict.model), evidence.distribution
        labels = (*subject, self._domain(evidence.domain), side or "unknown", evidence.polarity)
        for outcome in ("accept", "reject") if evidence is found else ():
            # Both begin at once, so that the first wrong answer is an increase.
            self._verdicts.labels(*labels, outcome).inc(outcome == verdict.outcome)
        # The subjects beyond the maximum have nothing in common.
        if side is None or subject == (_OTHER, _OTHER):
            return
        for polarity in ("all", evidence.polarity):
            latest = self._latest[*subject, polarity, side]
            latest[verdict.id] = None if verdict.outcome == "abstain" else verdict.outcome == "accept"
            unread = sum(right is None for right in latest.values())
            self._unread.labels(*subject, polarity, side).set(unread / len(latest))
            head, tail = (self._read(*subject, polarity, one) for one in ("head", "tail"))
            if min(head[1], tail[1]) >= _SHOWN_FROM:
                shown = head[0] / head[1] - tail[0] / tail[1], *difference(head, tail)
                for gauge, value in zip((self._gap, self._lower, self._upper), shown, strict=True):
                    gauge.labels(*subject, polarity).set(value)

    def _read(self, *key: *tuple[str, str, str, str]) -> tuple[int, int]:
        """How many of the latest answers were right, of how many that could be read."""
        read = [right for right in self._latest[key].values() if right is not None]
        return sum(read), len(read)

    def _domain(self, name: str | None) -> str:
        if name is None:
            return "unknown"
        if name not in self._domains and len(self._domains) >= _MAX_DOMAINS:
            return _OTHER
        self._domains.add(name)
        return name
