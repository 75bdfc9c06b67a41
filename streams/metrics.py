"""Prometheus metrics of the stream: records, verdicts, dead letters, intake."""

from collections.abc import Callable, Collection, Iterable
from typing import Final, Literal, TypeAlias, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from schemas import OUTCOMES, RECORD_KINDS, DeadLetterReason, Verdict

OTHER: Final = "other"
"""The label value under which everything beyond the maximum is counted. A producer that calls itself and its model
`other` is shown as `other_`, `other`, so that the two are never one series."""

LeftOut: TypeAlias = Literal["route", "sample", "budget"]
"""Why a checker did not look at a record of a kind that it takes."""

# From a checker that only computes (milliseconds) to a judge that is retried (a minute).
_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 60)


class StreamMetrics:
    """Metrics of records, verdicts, dead letters and intake on one registry."""

    def __init__(self, registry: CollectorRegistry, *, max_subjects: int, currency: str = "USD") -> None:
        """`currency` is that of the configured prices."""
        self.registry = registry
        self.currency = currency
        self._max_subjects = max_subjects
        self._subjects: set[tuple[str, str]] = set()

        def counter(name: str, said: str, *labels: str) -> Counter:
            return Counter(name, said, labels, registry=registry)

        def gauge(name: str, said: str, *labels: str) -> Gauge:
            return Gauge(name, said, labels, registry=registry)

        said = "Events counted under `other`, as so many others had their own labels before"
        self.subjects_beyond = counter("assay_subjects_beyond_maximum", said)
        self.records = counter("assay_records", "Records, each counted by one of its checkers alone", "kind")
        said = "Records of kinds that the checker takes"
        self.checker_records = counter("assay_checker_records", said, "checker", "kind")
        said = "Records that were received and given back unanswered, as their partition went to another worker"
        self.given_back = counter("assay_records_given_back", said, "checker")
        self.skipped = counter("assay_skipped", "Records of kinds that the checker does not take", "checker", "kind")
        said = "Unknown fields that are nearly one that the record lacks"
        self.misspelt = counter("assay_misspelt_fields", said, "checker", "kind", "field")
        self.verdicts = counter("assay_verdicts", "Verdicts delivered", "checker", "outcome", "source", "model")
        said = "Verdicts that `assay recheck` asked for, which no rate counts"
        self.rechecked = counter("assay_rechecked", said, "checker", "outcome")
        said = "Verdicts where a second judge may be asked, by the judge that decided"
        self.cascade = counter("assay_cascade_verdicts", said, "checker", "judge")
        said = "Records of the checker's kinds that it skipped: by a rule, by sampling or for want of budget"
        self.left_out = counter("assay_left_out", said, "checker", "reason", "source", "model")
        said = "Invalid records among those skipped by a rule or by sampling, of which 1 in 100 is read in full"
        self.left_out_invalid = counter("assay_left_out_invalid", said, "checker")
        self.calls = counter("assay_check_calls", "Requests that checks sent to models", "checker")
        said = "Tokens that models read (prompt) and wrote (completion) for checks"
        self.tokens = counter("assay_check_tokens", said, "checker", "direction")
        self.cost = counter("assay_check_cost", "Cost of checks", "checker", "currency")
        said = "Questions of checks answered from the cache, without a model"
        self.cache_hits = counter("assay_check_cache_hits", said, "checker")
        said = "Records whose kind no running checker takes"
        self.unclaimed_records = counter("assay_unclaimed_records", said, "kind")
        # Prometheus sees no increase in a series that begins at 1.
        for kind in RECORD_KINDS:
            self.unclaimed_records.labels(kind)
        self.dead_letters = counter("assay_dead_letters", "Dead letters delivered", "agent", "reason")
        name, said = "assay_check_duration_seconds", "Time of one check, from its start to its verdict"
        self.seconds = Histogram(name, said, ["checker"], buckets=_SECONDS, registry=registry)
        self.last_verdict = gauge("assay_last_verdict_timestamp_seconds", "Unix time of the last verdict", "checker")
        said = "Records that are begun and not finished, held ones included"
        self.in_flight = gauge("assay_records_in_flight", said, "agent")
        said = "Records that wait to be tried again, because a model or a target is away"
        self.held = gauge("assay_records_held", said, "agent")
        self.paused = gauge("assay_intake_paused", "1 while no new record is started, as a model is down", "agent")
        self.kafka_last_answer = gauge("assay_kafka_last_answer_timestamp_seconds", "Time of a broker's last answer")
        said = "Records that come to this worker's partitions, in a minute"
        self.arriving = gauge("assay_records_arriving_per_second", said, "agent")
        said = "Records of them that were finished, in a minute"
        self.finished = gauge("assay_records_finished_per_second", said, "agent")
        self.lag = gauge("assay_consumer_lag_records", "Unfinished records of this worker's partitions", "agent")

    def watch(
        self, agent: str, *, in_flight: Callable[[], int], held: Callable[[], int], paused: Callable[[], bool]
    ) -> None:
        """Begin an agent's series: call these at every scrape."""
        self.in_flight.labels(agent).set_function(in_flight)
        self.held.labels(agent).set_function(held)
        self.paused.labels(agent).set_function(paused)
        # Prometheus sees no increase in a series that begins at 1: the first dead letter would alert nobody.
        for reason in get_args(DeadLetterReason):
            self.dead_letters.labels(agent, reason)

    def subject(self, source: str, model: str, number: int = 1) -> tuple[str, str]:
        """The labels of a subject: its names, or `other` beyond the maximum. To be called once for `number` events."""
        if model == OTHER and source.rstrip("_") == OTHER:
            source += "_"
        pair = (source, model)
        if pair in self._subjects:
            return pair
        if len(self._subjects) >= self._max_subjects:
            self.subjects_beyond.inc(number)
            return (OTHER, OTHER)
        self._subjects.add(pair)
        return pair

    def begin_checker(self, checker: str, counts: Collection[str]) -> None:
        """Begin a checker's series at zero, so that the first is an increase; `counts`: as in `record`."""
        for kind in counts:
            self.records.labels(kind)
        for direction in ("prompt", "completion"):
            self.tokens.labels(checker, direction)
        self.cost.labels(checker, self.currency)
        own = (self.calls, self.cache_hits, self.seconds, self.last_verdict)
        for each in (*own, self.given_back, self.left_out_invalid):
            each.labels(checker)

    def record(
        self, checker: str, kind: str, counts: Collection[str], *, misspelt: Iterable[str] = (), number: int = 1
    ) -> None:
        """Count records of a kind that the checker takes; `counts` are the kinds that it counts for all checkers."""
        self.checker_records.labels(checker, kind).inc(number)
        if kind in counts:
            self.records.labels(kind).inc(number)
        for field in misspelt:
            self.misspelt.labels(checker, kind, field).inc()

    def leave_out(self, checker: str, reason: LeftOut, source: str, model: str, number: int = 1) -> None:
        """Count records of the checker's kinds that it did not check."""
        self.left_out.labels(checker, reason, *self.subject(source, model, number)).inc(number)

    def verdict(self, checker: str, verdict: Verdict) -> None:
        """Count a delivered verdict and its usage."""
        usage, subject = verdict.usage, self.subject(verdict.source, verdict.model)
        for outcome in OUTCOMES:
            # All three begin at once, so that the first of each that comes later is an increase.
            self.verdicts.labels(checker, outcome, *subject).inc(outcome == verdict.outcome and not verdict.rechecked)
        if verdict.rechecked:
            self.rechecked.labels(checker, verdict.outcome).inc()
        self.last_verdict.labels(checker).set_to_current_time()
        if verdict.cascade is not None:
            for place, judge in enumerate(("first", "second")):
                self.cascade.labels(checker, judge).inc(verdict.cascade.escalated == place)
        for counter, amount in (
            (self.calls.labels(checker), usage.calls),
            (self.tokens.labels(checker, "prompt"), usage.prompt_tokens),
            (self.tokens.labels(checker, "completion"), usage.completion_tokens),
            (self.cost.labels(checker, self.currency), usage.cost),
            (self.cache_hits.labels(checker), usage.cached),
        ):
            # A third party's may be negative, which no counter takes.
            counter.inc(max(amount, 0))
