"""From scores with human labels to two thresholds with a promise on the error among what they decide.

The promise: with probability at least `confidence` over the draw of the labelled records, at most `error` of the later
records that are accepted should have been rejected, and at most `error` of those rejected should have been accepted.
So at most `error` of all decided are wrong.

**Why it holds.** Let R(t) be the probability that a record with a score of at least t is one that people reject. For a
fixed t, of the n labelled records that score at least t, the number k that people reject has, given n, the binomial
distribution with R(t). So if R(t) > error, P(Bin(n, error) <= k) is at most a level with at most that probability: an
exact test of "t breaks the promise". The thresholds t are those of a grid fixed beforehand, tested from the strictest
on. The confidence is split (Bonferroni): each of the two thresholds has the level (1 - confidence) / 2.

Within a level the test is the fallback procedure (Wiens and Dmitrienko 2005): a fixed sequence with two places to
begin. Each has half of the level, a threshold that passes hands its level on to the next one, one that fails loses it.
For a threshold to pass wrongly, the first that breaks the promise has to pass with the level handed to it, or one
behind it with what begins there: the probability of any of that is at most the sum of the halves. All that passed hold
together, so any of them may be chosen.

**What is assumed.** The labelled records are drawn independently from what is judged later, by the same judge with the
same settings. One thing more, as thresholds with too few labels are skipped, which depends on the
number of labels and not on their values: if a threshold breaks the promise, so do the more lenient ones between it and
the place to begin (scores are not worst where they are most certain). Without it the test is exact for every threshold
that breaks the promise at or behind the place where the sequence begins, not for one among those that were skipped.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, count
from typing import Literal, TypeAlias, get_args

MIN_LABELS = 30
"""The fewest labels of a threshold, for any promise."""

GRID = tuple(sorted({0.0, 1.0, *(round(1 / (1 + math.exp(-step / 20)), 6) for step in range(-240, 241))}))
"""The thresholds that are tested: even steps of log-odds, as scores may crowd near 0 and 1."""

_LATER = 4
"""Errors that the second place to begin allows. At the first, a single error ends the sequence, which most sets of
hundreds of labels hold by chance; with the second alone, small sets would promise nothing."""
_ERROR_STEP = 0.01
"""Promises that can be kept are reported in these steps."""
_TIMES = (2, 3, 4, 6, 8, 10, 14, 20)
"""So many times as many labels are tried where there are too few."""

Outcome = Literal["accept", "reject"]
Labelled: TypeAlias = tuple[float, bool]
"""A record's score, and whether people accept it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The score from which to accept, or below which to reject, and its decisions on the labelled records."""

    value: float | None = None
    """None if none keeps the promise."""
    decided: int = 0
    """Labelled records that it decides."""
    wrong: int = 0
    """The number of these that people decided otherwise."""


def calibrate(labelled: Iterable[Labelled], *, error: float, confidence: float) -> tuple[Threshold, Threshold]:
    """The thresholds to accept and to reject that decide the most of `labelled` and keep the promise (see the module).

    Args:
        labelled: scores from 0 to 1.
        error: of what is decided at most this share may be wrong; above 0, below 0.5.
        confidence: the probability that the promise is kept; above 0, below 1.

    Raises:
        ValueError: `error` or `confidence` is out of range.
    """
    # A coin keeps any promise above a half.
    if not 0 < error < 0.5 or not 0 < confidence < 1:
        raise ValueError(f"error {error:g}, confidence {confidence:g}: allowed are 0 to 0.5 and 0 to 1, ends excluded")
    known, level = tuple(labelled), (1 - confidence) / 2
    accepting, rejecting = (_passing(_thresholds(known, side), error, level) for side in get_args(Outcome))
    return _chosen(accepting, rejecting)


def shortfall(
    labelled: Sequence[Labelled], outcome: Outcome, *, error: float, confidence: float
) -> tuple[float | None, int | None]:
    """The promise that can be kept of `outcome`, for which `calibrate` found no threshold with the same arguments.

    Returns:
        The smallest error, in steps of 0.01, that these labels could promise at the same confidence; None if none below
        a half. And how many labels would do, a multiple of these, if the share of errors stays what it is; None if 20
        times as many would not.
    """
    level = (1 - confidence) / 2

    def kept(error: float, times: int = 1) -> bool:
        return bool(_passing(_thresholds([*labelled] * times, outcome), error, level))

    steps = range(math.floor(error / _ERROR_STEP) + 1, round(0.5 / _ERROR_STEP))
    possible = next((step * _ERROR_STEP for step in steps if kept(step * _ERROR_STEP)), None)
    return possible, next((times * len(labelled) for times in _TIMES if kept(error, times)), None)


def fewest_labels(error: float, level: float, *, wrong: int = 0) -> int:
    """The fewest labels, of at least 30, that refute a rate above `error` at `level` with `wrong` errors among them."""
    return next(labels for labels in count(MIN_LABELS) if wrong <= most_wrong(labels, error, level))


def _thresholds(labelled: Sequence[Labelled], outcome: Outcome) -> Iterator[Threshold]:
    """The grid from strict to lenient, each threshold with its decisions."""
    ordered = sorted(labelled)
    scores = [score for score, _ in ordered]
    accepted_below = [0, *accumulate(accept for _, accept in ordered)]
    for value in GRID if outcome == "reject" else reversed(GRID):
        below = bisect_left(scores, value)
        if outcome == "reject":
            yield Threshold(value, below, accepted_below[below])
        else:
            decided = len(ordered) - below
            yield Threshold(value, decided, decided - (accepted_below[-1] - accepted_below[below]))


def _passing(thresholds: Iterable[Threshold], error: float, level: float) -> list[Threshold]:
    """Those that pass, from strict to lenient."""
    share = level / 2
    begins = [fewest_labels(error, share, wrong=wrong) for wrong in (0, _LATER)]
    passing = []
    at_hand = 0.0
    for one in thresholds:
        while begins and one.decided >= begins[0]:
            at_hand += share
            begins.pop(0)
        if at_hand and one.wrong <= most_wrong(one.decided, error, at_hand):
            passing.append(one)
        else:
            at_hand = 0.0
    return passing


def _chosen(accepting: Sequence[Threshold], rejecting: Sequence[Threshold]) -> tuple[Threshold, Threshold]:
    """The most lenient of both; where they overlap, the one value for both that gets the fewest wrong.

    Of several as good, the one in the middle.
    """
    accept, reject = (side[-1] if side else Threshold() for side in (accepting, rejecting))
    if accept.value is None or reject.value is None or reject.value <= accept.value:
        return accept, reject
    by_value = {one.value: one for one in accepting}
    both = [(by_value[one.value], one) for one in rejecting if one.value in by_value]
    if not both:
        # Of the ones that pass, the sequences skipped those in which they meet.
        within = [one for one in rejecting if one.value is not None and one.value <= accept.value]
        return accept, within[-1] if within else Threshold()
    fewest = min(one.wrong + other.wrong for one, other in both)
    best = [pair for pair in both if pair[0].wrong + pair[1].wrong == fewest]
    return best[len(best) // 2]


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
