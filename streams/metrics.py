"""Prometheus metrics of the stream: records, verdicts, dead letters, intake."""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Final, Literal, TypeAlias, get_args

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from schemas import OUTCOMES, RECORD_KINDS, DeadLetterReason, Verdict

OTHER: Final = "other"
"""The label value under which everything beyond the maximum is counted. A producer that calls itself and its model
`other` is shown as `other_`, `other`, so that the two are never one series."""

LeftOut: TypeAlias = Literal["route", "sample", "budget"]
"""Why a checker did not look at a record of a kind that it takes."""

# From a checker that only computes (milliseconds) to a judge that is retried (a minute).
_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 60)

_log = structlog.get_logger(__name__)


class StreamMetrics:
    """Metrics of records, verdicts, dead letters and intake on one registry."""

    def __init__(self, registry: CollectorRegistry, *, max_subjects: int, currency: str = "USD") -> None:
        """`currency` is that of the configured prices."""
        self.registry = registry
        self.currency = currency
        self._max_subjects = max_subjects
        self._subjects: set[tuple[str, str]] = set()
        self._told_beyond = False
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry)
        self.subjects_beyond = counter(
            "assay_subjects_beyond_maximum",
            "Events counted under `other`, as so many others had their own labels before",
        )
        subject = ["source", "model"]
        self.records = counter("assay_records", "Records, each counted by one of its checkers alone", ["kind"])
        self.checker_records = counter(
            "assay_checker_records", "Records of kinds that the checker takes", ["checker", "kind"]
        )
        self.given_back = counter(
            "assay_records_given_back",
            "Records that were received and given back unanswered, as their partition went to another worker",
            ["checker"],
        )
        self.skipped = counter("assay_skipped", "Records of kinds that the checker does not take", ["checker", "kind"])
        self.misspelt = counter(
            "assay_misspelt_fields",
            "Unknown fields that are nearly one that the record lacks",
            ["checker", "kind", "field"],
        )
        self.verdicts = counter("assay_verdicts", "Verdicts delivered", ["checker", "outcome", *subject])
        self.rechecked = counter(
            "assay_rechecked", "Verdicts that `assay recheck` asked for, which no rate counts", ["checker", "outcome"]
        )
        self.cascade = counter(
            "assay_cascade_verdicts",
            "Verdicts where a second judge may be asked, by the judge that decided",
            ["checker", "judge"],
        )
        self.left_out = counter(
            "assay_left_out",
            "Records of the checker's kinds that it skipped: by a rule, by sampling or for want of budget",
            ["checker", "reason", *subject],
        )
        self.left_out_invalid = counter(
            "assay_left_out_invalid",
            "Invalid records among those skipped by a rule or by sampling, of which 1 in 100 is read in full",
            ["checker"],
        )
        self.calls = counter("assay_check_calls", "Requests that checks sent to models", ["checker"])
        self.tokens = counter(
            "assay_check_tokens",
            "Tokens that models read (prompt) and wrote (completion) for checks",
            ["checker", "direction"],
        )
        self.cost = counter("assay_check_cost", "Cost of checks", ["checker", "currency"])
        self.cache_hits = counter(
            "assay_check_cache_hits", "Questions of checks answered from the cache, without a model", ["checker"]
        )
        self.unclaimed_records = counter(
            "assay_unclaimed_records", "Records whose kind no running checker takes", ["kind"]
        )
        # Prometheus sees no increase in a series that begins at 1.
        for kind in RECORD_KINDS:
            self.unclaimed_records.labels(kind)
        self.dead_letters = counter("assay_dead_letters", "Dead letters delivered", ["agent", "reason"])
        self.seconds = Histogram(
            "assay_check_duration_seconds",
            "Time of one check, from its start to its verdict",
            ["checker"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.last_verdict = gauge("assay_last_verdict_timestamp_seconds", "Unix time of the last verdict", ["checker"])
        self.in_flight = gauge(
            "assay_records_in_flight", "Records that are begun and not finished, held ones included", ["agent"]
        )
        self.held = gauge(
            "assay_records_held", "Records that wait to be tried again, because a model or a target is away", ["agent"]
        )
        self.paused = gauge("assay_intake_paused", "1 while no new record is started, as a model is down", ["agent"])
        self.kafka_last_answer = gauge("assay_kafka_last_answer_timestamp_seconds", "Time of a broker's last answer")
        self.arriving = gauge(
            "assay_records_arriving_per_second", "Records that come to this worker's partitions, in a minute", ["agent"]
        )
        self.finished = gauge(
            "assay_records_finished_per_second", "Records of them that were finished, in a minute", ["agent"]
        )
        self.lag = gauge("assay_consumer_lag_records", "Unfinished records of this worker's partitions", ["agent"])

    def agent(self, name: str) -> "AgentMetrics":
        return AgentMetrics(self, name)

    def checker(self, name: str, counts: Collection[str] = ()) -> "CheckerMetrics":
        """Those of a checker; `counts` are the kinds of which it counts the records for all."""
        return CheckerMetrics(self, name, counts)

    def unclaimed(self, kind: str) -> None:
        """Count a verdict on a record that no checker takes."""
        self.unclaimed_records.labels(kind).inc()

    def subject(self, source: str, model: str, number: int = 1) -> tuple[str, str]:
        """The labels of a subject: its names, or `other` beyond the maximum. To be called once for `number` events."""
        if model == OTHER and source.rstrip("_") == OTHER:
            source += "_"
        pair = (source, model)
        if pair in self._subjects:
            return pair
        if len(self._subjects) >= self._max_subjects:
            self._beyond(number)
            return (OTHER, OTHER)
        self._subjects.add(pair)
        return pair

    def _beyond(self, number: int) -> None:
        if not self._told_beyond:
            self._told_beyond = True
            _log.warning(
                "more subjects than have their own labels; further ones count as other", maximum=self._max_subjects
            )
        self.subjects_beyond.inc(number)


class AgentMetrics:
    """The metrics of one agent."""

    def __init__(self, metrics: StreamMetrics, agent: str) -> None:
        self._metrics = metrics
        self._agent = agent
        # Prometheus sees no increase in a series that begins at 1: the first dead letter would alert nobody.
        for reason in get_args(DeadLetterReason):
            metrics.dead_letters.labels(agent, reason)

    def watch(self, *, in_flight: Callable[[], int], held: Callable[[], int], paused: Callable[[], bool]) -> None:
        """Call these at every scrape."""
        self._metrics.in_flight.labels(self._agent).set_function(in_flight)
        self._metrics.held.labels(self._agent).set_function(held)
        self._metrics.paused.labels(self._agent).set_function(paused)

    def dead_letter(self, reason: DeadLetterReason) -> None:
        self._metrics.dead_letters.labels(self._agent, reason).inc()

    def pace(self, arriving: float, finished: float) -> None:
        """Note records a second."""
        self._metrics.arriving.labels(self._agent).set(arriving)
        self._metrics.finished.labels(self._agent).set(finished)

    def lag(self, messages: int) -> None:
        """Note a lag that is known; until then, and after it was cleared, there is no series."""
        self._metrics.lag.labels(self._agent).set(messages)


class CheckerMetrics:
    """The metrics of one checker."""

    def __init__(self, metrics: StreamMetrics, checker: str, counts: Collection[str] = ()) -> None:
        """`counts` are the kinds of which it counts the records for all checkers."""
        self._metrics = metrics
        self._checker = checker
        self._records: dict[str, Counter] = {}
        self._all_records = {kind: metrics.records.labels(kind) for kind in counts}
        self._left_out: dict[tuple[LeftOut, str, str], Counter] = {}
        self._verdicts: dict[tuple[str, str], dict[str, Counter]] = {}
        self._calls = metrics.calls.labels(checker)
        self._prompt_tokens = metrics.tokens.labels(checker, "prompt")
        self._completion_tokens = metrics.tokens.labels(checker, "completion")
        self._cost = metrics.cost.labels(checker, metrics.currency)
        self._cache_hits = metrics.cache_hits.labels(checker)
        self._seconds = metrics.seconds.labels(checker)
        self._last_verdict = metrics.last_verdict.labels(checker)
        self._given_back = metrics.given_back.labels(checker)
        self._left_out_invalid = metrics.left_out_invalid.labels(checker)

    def record(self, kind: str, *, misspelt: Iterable[str] = (), number: int = 1, again: bool = False) -> None:
        """Count records of a kind that the checker takes, and the fields that their producer seems to have meant.

        What is on the topic once more, to be checked `again`, is not another record.
        """
        if (counter := self._records.get(kind)) is None:
            counter = self._records[kind] = self._metrics.checker_records.labels(self._checker, kind)
        counter.inc(number)
        if (of_all := self._all_records.get(kind)) is not None and not again:
            of_all.inc(number)
        for field in misspelt:
            self._metrics.misspelt.labels(self._checker, kind, field).inc()

    def give_back(self) -> None:
        """Count a record that was received and comes again, here or elsewhere."""
        self._given_back.inc()

    def skip(self, kind: str, number: int = 1) -> None:
        """Count records of a kind that the checker does not take."""
        self._metrics.skipped.labels(self._checker, kind).inc(number)

    def left_out(self, reason: LeftOut, source: str, model: str, number: int = 1) -> None:
        """Count records of the checker's kinds that it did not check."""
        key = reason, *self._metrics.subject(source, model, number)
        if (counter := self._left_out.get(key)) is None:
            counter = self._left_out[key] = self._metrics.left_out.labels(self._checker, *key)
        counter.inc(number)

    def invalid_left_out(self) -> None:
        """Count a skipped record that was read all the same, and is invalid."""
        self._left_out_invalid.inc()

    def checked(self, seconds: float) -> None:
        self._seconds.observe(seconds)

    def verdict(self, verdict: Verdict) -> None:
        """Count a delivered verdict and its usage."""
        subject = self._metrics.subject(verdict.source, verdict.model)
        if (counters := self._verdicts.get(subject)) is None:
            # All three begin at once, so that the first of each that comes later is an increase.
            counters = {each: self._metrics.verdicts.labels(self._checker, each, *subject) for each in OUTCOMES}
            self._verdicts[subject] = counters
        if verdict.rechecked:
            self._metrics.rechecked.labels(self._checker, verdict.outcome).inc()
        else:
            counters[verdict.outcome].inc()
        self._last_verdict.set_to_current_time()
        if verdict.cascade is not None:
            for place, judge in enumerate(("first", "second")):
                # Both begin at once, so that the first escalation is an increase.
                self._metrics.cascade.labels(self._checker, judge).inc(verdict.cascade.escalated == place)
        usage = verdict.usage
        _grow(self._calls, usage.calls)
        _grow(self._prompt_tokens, usage.prompt_tokens)
        _grow(self._completion_tokens, usage.completion_tokens)
        _grow(self._cost, usage.cost)
        _grow(self._cache_hits, usage.cached)


def _grow(counter: Counter, amount: float) -> None:
    # Most verdicts leave some at zero; a third party's may even say less, which no counter takes.
    if amount > 0:
        counter.inc(amount)
