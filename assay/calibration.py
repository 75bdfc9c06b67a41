"""From scores with human labels to two thresholds with a promise on the error among what they decide.

The promise: with probability at least `confidence` over the draw of the labelled records, at most `error` of the later
records that are accepted should have been rejected, and at most `error` of those rejected should have been accepted.
So at most `error` of all decided are wrong.

**Why it holds.** Let R(t) be the probability that a record with a score of at least t is one that people reject. For a
fixed t, of the n labelled records that score at least t, the number k that people reject has, given n, the binomial
distribution with R(t). So if R(t) > error, P(Bin(n, error) <= k) is at most a level with at most that probability: an
exact test of "t breaks the promise". The thresholds t are those of a grid fixed beforehand, tested from the strictest
on. The confidence is split (Bonferroni): each of the two thresholds has the level (1 - confidence) / 2. arXiv
2407.18370 tests in a fixed sequence as well; its code spends the whole of 1 - confidence at every stage, so that the
stages together break the promise more often than they say.

Within a level the test is the fallback procedure (Wiens and Dmitrienko 2005): a fixed sequence with two places to
begin. Each has half of the level, a threshold that passes hands its level on to the next one, one that fails loses it.
For a threshold to pass wrongly, the first that breaks the promise has to pass with the level handed to it, or one
behind it with what begins there: the probability of any of that is at most the sum of the halves. All that passed hold
together, so any of them may be chosen.

**What is assumed.** The labelled records are drawn independently from what is judged later, by the same judge with the
same settings. One thing more, as thresholds with too few labels behind them are passed over, which is decided by the
number of labels and not by what they say: if a threshold breaks the promise, so do the more lenient ones between it and
the place to begin (scores are not worst where they are most certain). Without it the test is exact for every threshold
that breaks the promise at or behind the place where the sequence begins, not for one within what was passed over.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

MIN_LABELS = 30
"""Labels behind a threshold at least, whatever the promise."""
LARGEST_ERROR = 0.5
"""A promise beyond this is none: a coin keeps it."""

_STEPS = 240
_STEPS_A_UNIT = 20
GRID = tuple(
    sorted({0.0, 1.0, *(round(1 / (1 + math.exp(-step / _STEPS_A_UNIT)), 6) for step in range(-_STEPS, _STEPS + 1))})
)
"""The thresholds that are tested: even steps of log-odds, as scores may crowd near 0 and 1."""

_STAGES = 2
"""Tests that share the confidence: one for each threshold."""
_LATER = 4
"""Errors that the second place to begin allows. At the first, a single error ends the sequence, which most sets of
hundreds of labels hold by chance; with the second alone, small sets would promise nothing."""
_ERROR_STEP = 0.01
"""Promises that can be kept are told to this step."""
_MOST_LABELS = 1_000_000
"""Nobody has more labels: what would need them counts as impossible."""

Outcome = Literal["accept", "reject"]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A record's score, and what people say of it."""

    score: float
    accept: bool
    """True if people accept it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The findings about one of the two thresholds."""

    value: float | None
    """None if none keeps the promise."""
    decided: int
    """Labelled records that it decides."""
    wrong: int
    """The number of these that people decided otherwise."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The promise that can be kept in place of the one that cannot."""

    possible: float | None
    """The smallest error, in steps of 0.01, that these labels could promise at the same confidence; None if none below
    a half."""
    needed: int | None
    """About so many labelled records in all would keep the promise, if the share of errors stays what it is here; None
    if no number would."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two thresholds and what they do to the labelled records."""

    error: float
    confidence: float
    labels: int
    accept: Threshold
    """Accept from this score on."""
    reject: Threshold
    """Reject below this score."""

    @property
    def values(self) -> dict[Outcome, float | None]:
        return {"accept": self.accept.value, "reject": self.reject.value}

    @property
    def keeps(self) -> bool:
        """True if at least one threshold keeps the promise, so that something is decided."""
        return any(value is not None for value in self.values.values())

    @property
    def decided(self) -> int:
        return self.accept.decided + self.reject.decided

    @property
    def wrong(self) -> int:
        return self.accept.wrong + self.reject.wrong


def calibrate(labelled: Iterable[Labelled], *, error: float, confidence: float) -> Calibration:
    """The thresholds that decide the most of `labelled` and keep the promise (see the module).

    Args:
        labelled: scores from 0 to 1.
        error: of what is decided at most this share may be wrong; above 0, below 0.5.
        confidence: the probability that the promise is kept; above 0, below 1.

    Raises:
        ValueError: `error` or `confidence` is out of range.
    """
    if not 0 < error < LARGEST_ERROR or not 0 < confidence < 1:
        raise ValueError(f"error {error:g}, confidence {confidence:g}: allowed are 0 to 0.5 and 0 to 1, ends excluded")
    level = (1 - confidence) / _STAGES
    known = tuple(labelled)
    accept, reject = _chosen(_Side("accept", known).passing(error, level), _Side("reject", known).passing(error, level))
    return Calibration(error, confidence, len(known), _told(accept), _told(reject))


def shortfall(labelled: Iterable[Labelled], outcome: Outcome, *, error: float, confidence: float) -> Shortfall:
    """The promise that can be kept of `outcome`, for which `calibrate` found no threshold with the same arguments."""
    side = _Side(outcome, tuple(labelled))
    level = (1 - confidence) / _STAGES
    possible = next((rate for rate in _rates_above(error) if side.passing(rate, level)), None)
    return Shortfall(possible, side.needed(error, level))


def fewest_labels(error: float, level: float, *, wrong: int = 0) -> int:
    """The fewest labels at which `wrong` errors still refute a rate above `error` at `level`."""
    fewest = wrong + 1
    while most_wrong(fewest, error, level) < wrong:
        fewest += 1
    return fewest


class _Side:
    """One of the two thresholds: its grid from strict to lenient, with the labels behind each of it."""

    def __init__(self, outcome: Outcome, labelled: Sequence[Labelled]) -> None:
        ordered = sorted(labelled, key=lambda one: one.score)
        scores = [one.score for one in ordered]
        accepted_below = [0]
        for one in ordered:
            accepted_below.append(accepted_below[-1] + one.accept)
        self.labels = len(ordered)
        self.tests: list[_Test] = []
        for value in GRID if outcome == "reject" else reversed(GRID):
            below = bisect_left(scores, value)
            if outcome == "reject":
                decided, wrong = below, accepted_below[below]
            else:
                decided = self.labels - below
                wrong = decided - (accepted_below[-1] - accepted_below[below])
            self.tests.append(_Test(value, decided, wrong))

    def passing(self, error: float, level: float) -> "list[_Test]":
        """The thresholds that pass, from strict to lenient."""
        share = level / 2
        begins = [
            max(MIN_LABELS, fewest_labels(error, share)),
            max(MIN_LABELS, fewest_labels(error, share, wrong=_LATER)),
        ]
        passing = []
        at_hand = 0.0
        for test in self.tests:
            while begins and test.decided >= begins[0]:
                at_hand += share
                begins.pop(0)
            if at_hand and test.wrong <= most_wrong(test.decided, error, at_hand):
                passing.append(test)
            else:
                at_hand = 0.0
        return passing

    def needed(self, error: float, level: float) -> int | None:
        """The number of labels that would do, at the threshold where the fewest would."""
        if self.labels < MIN_LABELS:
            return max(MIN_LABELS, fewest_labels(error, level / 2))
        known = {(test.decided, test.wrong) for test in self.tests if test.decided >= MIN_LABELS}
        needed = [
            math.ceil(behind * self.labels / decided)
            for decided, wrong in known
            if wrong < error * decided and (behind := _labels_at(wrong / decided, error, level)) is not None
        ]
        return max(min(needed), self.labels + 1) if needed else None


@dataclass(frozen=True, slots=True)
class _Test:
    value: float
    decided: int
    wrong: int


def _told(chosen: _Test | None) -> Threshold:
    return Threshold(None, 0, 0) if chosen is None else Threshold(chosen.value, chosen.decided, chosen.wrong)


def _chosen(accepting: Sequence[_Test], rejecting: Sequence[_Test]) -> tuple[_Test | None, _Test | None]:
    """The most lenient of both; where they overlap, the one value for both that gets the fewest wrong.

    Of several as good, the one in the middle.
    """
    if not accepting or not rejecting:
        return (accepting[-1] if accepting else None), (rejecting[-1] if rejecting else None)
    if rejecting[-1].value <= accepting[-1].value:
        return accepting[-1], rejecting[-1]
    by_value = {test.value: test for test in accepting}
    both = [(by_value[test.value], test) for test in rejecting if test.value in by_value]
    if not both:
        # Of the ones that pass, the sequences skipped those in which they meet.
        within = [test for test in rejecting if test.value <= accepting[-1].value]
        return accepting[-1], (within[-1] if within else None)
    fewest = min(first.wrong + second.wrong for first, second in both)
    best = [pair for pair in both if pair[0].wrong + pair[1].wrong == fewest]
    return best[len(best) // 2]


def _rates_above(error: float) -> Iterable[float]:
    first = math.floor(error / _ERROR_STEP) + 1
    return (step * _ERROR_STEP for step in range(first, round(LARGEST_ERROR / _ERROR_STEP)))


def _labels_at(rate: float, error: float, level: float) -> int | None:
    """About so many labels behind a threshold would refute a rate above `error`, if `rate` of them are errors."""

    def refute(labels: int) -> bool:
        return math.ceil(rate * labels) <= most_wrong(labels, error, level / 2)

    enough = MIN_LABELS
    while not refute(enough):
        enough *= 2
        if enough > _MOST_LABELS:
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        enough, too_few = (middle, too_few) if refute(middle) else (enough, middle)
    return enough


@lru_cache(maxsize=65_536)
def most_wrong(decided: int, error: float, level: float) -> int:
    """The most errors among `decided` labels that refute a rate above `error` at `level`; -1 if even none does not."""
    found, total = -1, 0.0
    log_odds, log_right = math.log(error) - math.log1p(-error), decided * math.log1p(-error)
    for wrong in range(decided + 1):
        ways = math.lgamma(decided + 1) - math.lgamma(wrong + 1) - math.lgamma(decided - wrong + 1)
        total += math.exp(ways + wrong * log_odds + log_right)
        if total > level:
            break
        found = wrong
    return found
