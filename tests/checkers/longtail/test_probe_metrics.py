"""Verdicts on probes are counted by what was asked, and the gap between head and tail shows with its interval."""

import random
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from checkers.intervals import difference
from checkers.longtail.probe_metrics import WINDOW, ProbeMetrics
from schemas import Abstention, ProbeEvidence, Usage, Verdict
from streams.metrics import StreamMetrics


def verdict(number: int, right: bool | None, distribution: str | None = "head", **more: Any) -> Verdict:
    fields = {"polarity": "negative", "domain": "food", "template": 9, "distribution": distribution} | more
    evidence = ProbeEvidence(premise="p", conclusion="c", question="q", expected="no", answer="no", **fields)
    unread = Abstention(cause="subject_unusable", detail="d", probe=evidence)
    return Verdict(
        id=f"v{number}",
        record_id=f"r{number}",
        checker="any",
        checker_version="1",
        config_digest="d",
        outcome="abstain" if right is None else "accept" if right else "reject",
        score=None if right is None else float(right),
        reason="r",
        evidence=unread if right is None else evidence,
        usage=Usage(),
        source="s",
        model="m",
        judge="none",
    )


class Counted:
    """Metrics of probes on a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.metrics = ProbeMetrics(self.registry, StreamMetrics(self.registry, max_subjects=5).subject)
        self._number = 0

    def answer(self, right: bool | None, distribution: str | None, **more: Any) -> None:
        self._number += 1
        self.metrics.verdict(verdict(self._number, right, distribution, **more))

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, {"source": "s", "model": "m", **labels})

    def gap(self, polarity: str = "all") -> tuple[float | None, ...]:
        names = ("assay_probe_gap_ratio", "assay_probe_gap_lower_ratio", "assay_probe_gap_upper_ratio")
        return tuple(self.value(name, polarity=polarity) for name in names)


@pytest.fixture
def counted() -> Counted:
    return Counted()


def test_answers_are_counted_by_domain_distribution_polarity_and_outcome(counted: Counted):
    counted.answer(True, "head")
    counted.answer(False, "tail", polarity="positive", domain="temporal")
    counted.answer(False, "tail", polarity="positive", domain="temporal")
    labels = {"domain": "temporal", "distribution": "tail", "polarity": "positive"}
    assert counted.value("assay_probe_verdicts_total", outcome="reject", **labels) == 2
    assert counted.value("assay_probe_verdicts_total", outcome="accept", **labels) == 0
    labels = {"domain": "food", "distribution": "head", "polarity": "negative"}
    assert counted.value("assay_probe_verdicts_total", outcome="accept", **labels) == 1


def test_answers_that_cannot_be_read_are_a_share_of_their_side_and_not_in_the_gap(counted: Counted):
    for number in range(120):
        counted.answer(True, "head")
        counted.answer(True if number % 2 else None, "tail")
    labels = {"domain": "food", "distribution": "tail", "polarity": "negative"}
    assert [counted.value("assay_probe_verdicts_total", outcome=one, **labels) for one in ("accept", "reject")] == [
        60,
        0,
    ]
    assert counted.gap()[0] == 0
    unread = [counted.value("assay_probe_unread_ratio", polarity="all", distribution=one) for one in ("head", "tail")]
    assert unread == [0, 0.5]


def test_the_gap_is_that_of_the_two_accuracies_with_newcombes_interval(counted: Counted):
    for number in range(100):
        counted.answer(number < 90, "head")
        counted.answer(number < 70, "tail")
    gap, lower, upper = counted.gap()
    assert gap == pytest.approx(0.2)
    assert (lower, upper) == pytest.approx(difference((90, 100), (70, 100)))
    assert counted.gap("negative") == counted.gap()
    assert counted.gap("positive") == (None, None, None)


def test_there_is_no_gap_before_there_are_enough_of_both(counted: Counted):
    for number in range(99):
        counted.answer(number < 50, "head" if number < 50 else "tail")
    assert counted.gap() == (None, None, None)
    counted.answer(False, "tail")
    assert counted.gap()[0] == 1.0


def test_a_verdict_that_is_delivered_again_counts_once_in_the_gap(counted: Counted):
    for _ in range(3):
        for number in range(60):
            counted.metrics.verdict(verdict(number, True, "head"))
            counted.metrics.verdict(verdict(100 + number, number % 2 == 0, "tail"))
    assert counted.gap()[1:] == pytest.approx(difference((60, 60), (30, 60)))


def test_what_was_before_the_window_is_forgotten(counted: Counted):
    for right, gap in ((False, 1.0), (True, 0.0)):
        for _ in range(WINDOW):
            counted.answer(True, "head")
            counted.answer(right, "tail")
        assert counted.gap()[0] == gap


ALERT = 1.68
"""Times the interval's reach, as deploy/prometheus/rules/probes.yml asks for."""


def is_raised(seed: int, tail: float) -> bool:
    """Whether the alert's condition is met within 400 probes, after 400 without a gap."""
    draw, counted = random.Random(seed), Counted()
    for number in range(2 * WINDOW + 400):
        is_tail, is_later = number % 2, number >= 2 * WINDOW
        right = draw.random() < (tail if is_tail and is_later else 0.95)
        counted.answer(right, "tail" if is_tail else "head")
        if is_later:
            gap, lower, _ = map(float, counted.gap())  # type: ignore[arg-type]  # both sides have enough
            if gap > ALERT * (gap - lower):
                return True
    return False


def test_the_alert_is_raised_by_a_drop_of_twenty_points_and_not_by_chance():
    assert all(is_raised(seed, tail=0.75) for seed in range(5))
    assert not any(is_raised(seed, tail=0.95) for seed in range(5))


def test_newcombes_published_example():
    # Newcombe (1998), table II, example (a): 56 of 70 against 48 of 80.
    assert difference((56, 70), (48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)
