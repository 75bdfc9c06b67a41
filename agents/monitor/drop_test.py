"""A test after every verdict whether a success rate dropped, with one bound on ever raising a false alarm.

What is tested, and against what. Each verdict is 1 (accept) or 0 (reject). The null hypothesis: given everything before
it, each verdict is an accept with probability at least its baseline, which is known before the verdict. The moment of
a drop and its size are unknown.

How. For a drop of size d from baseline b, the factor

    f(x) = 1 + d (b - x) / (b (1 - b))

is the likelihood ratio of an accept rate of b - d against b: 1 - d/b for an accept, 1 + d/(1 - b) for a reject. It is a
bet against the null at fair odds (Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting",
JRSS-B 86, 2024): under it the expected factor is at most 1, so the product of the factors from verdict j on is a
nonnegative supermartingale that starts at 1. As neither j nor d is known, the evidence is a mixture over both, which is
one too (Robbins, "Statistical methods related to the law of the iterated logarithm", Ann. Math. Stat. 41, 1970):

    M(n) = sum_d w(d) sum_{j<=n} s(j) f(x_j) ... f(x_n)  +  sum_{j>n} s(j)

A verdict may count for a share a of its evidence, 0 < a <= 1, that is known before it: f(x)^a takes the place of f(x),
and by Jensen's inequality E f(x)^a <= (E f(x))^a <= 1 under the null hypothesis, so all of this stays true.

Starting weights turn the sum over all starts of Shiryaev and Roberts, and of the e-detectors of Shin, Ramdas & Rinaldo
("E-detectors: a nonparametric framework for sequential change detection", NEJSDS, 2023), which bounds the mean time
between false alarms, into an e-process that bounds the probability of any. For each d the inner sum S needs no memory
of the starts: S(n) = (S(n-1) + s(n)) f(x_n). By Ville's inequality (Ville, "Étude critique de la notion de collectif",
1939) M ever reaches 1/error_bound with a probability of at most error_bound, however long and however often one looks.

The starting weights come from what is left after n verdicts, r(n) = ln A / ln(A + n), as s(n) = r(n-1) - r(n). Their
sum over all n is r(0) - r(infinity) = 1, and r falls so slowly that a drop after n verdicts costs but about
ln n + 2 ln ln n of evidence. The subtraction is exact in floating point (Sterbenz), so the weights of the program sum
to 1 as well.

Nothing over- or underflows: until an alarm M < 1/error_bound, so each S < 1/(error_bound w); and an accept leaves of
each S at least a fixed share of s(n), which is above 1e-16 for the first 1e13 verdicts. After an alarm
the test does not change.
"""

import math
from functools import lru_cache
from typing import Final, NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

HIGHEST_BASELINE = 0.999  # Higher ones are tested as this one, which is valid. At 1 a single reject would be proof.
LOWEST_BASELINE = 1e-9  # Below it no drop can be found, and no bet is placed.
EARLY_VERDICTS = 100  # A: the first so many verdicts are about equally likely to be the first bad one.
LARGEST_SHARE = 0.95  # Of the baseline, that the largest bet is on: on all of it, one accept would lose everything.
SMALLEST_DROP: Final = 0.05  # The smallest drop of the success rate that matters. Larger drops are found sooner.

_BETS: Final = math.ceil(math.log2(1 / SMALLEST_DROP)) + 1
_RAW: Final[list[float]] = [2.0 ** (-k / 2) for k in range(_BETS)]

BET_WEIGHTS: Final = tuple(weight / math.fsum(_RAW) for weight in _RAW)
"""The weight of each bet, from the smallest drop to the largest; they sum to 1.

At most twice between neighbours: a bet on a drop of up to 1.4 times too much or too little gains at least 4/5 as
fast. Weights fall as the square root of the drop, as a small one takes longest anyway.
"""


@lru_cache(4096)
def bet_factors(baseline: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The factors of an accept and of a reject for each bet against a baseline from 0 to 1."""
    if baseline < LOWEST_BASELINE:
        return (1.0,) * _BETS, (1.0,) * _BETS
    baseline = min(baseline, HIGHEST_BASELINE)
    # Where a drop of that size is hardly possible, half of the baseline takes its place.
    smallest = min(SMALLEST_DROP, baseline / 2)
    ratio = (LARGEST_SHARE * baseline / smallest) ** (1 / (_BETS - 1))
    drops = [smallest * ratio**k for k in range(_BETS)]
    return tuple(1 - drop / baseline for drop in drops), tuple(1 + drop / (1 - baseline) for drop in drops)


def weight_left(verdicts: int) -> float:
    """Starting weight of all verdicts after the first `verdicts`."""
    return math.log(EARLY_VERDICTS) / math.log(EARLY_VERDICTS + verdicts)


class Since(NamedTuple):
    """The verdicts since the likeliest start of a drop; at an alarm their success rate is lower than the true one."""

    verdicts: int
    accepted: int
    expected: float  # The sum of their expected success rates.


@dataclass(config=ConfigDict(extra="forbid", strict=True))
class DropTest:
    """Tests whether the success rate of one series dropped below its baseline by about `SMALLEST_DROP` or more.

    A series that never drops below its baseline has an alarm, ever, with a probability of at most `error_bound`. That
    depends on the conditional success rate: of verdicts that fail together (a batch with one cause) the second is not
    as likely an accept as the first, which the given baseline must allow for. Drops of less than about half of
    `SMALLEST_DROP` raise no alarm as a rule; it bounds what is looked for, not what is promised.

    After an alarm the test does not change; to watch on, begin a new one. The same test finds a recovery: feed it
    `not accepted`, against a baseline of 1 - (b - SMALLEST_DROP). Its null hypothesis is then that the success rate
    stays at b - SMALLEST_DROP or below, and its alarm the proof that it does not.

    Its fields are its state, of a size that does not grow.
    """

    error_bound: float
    verdicts: int = 0
    accepted: int = 0
    expected: float = 0.0
    sums: list[float] = Field(default_factory=lambda: [0.0] * _BETS)  # S of each bet.
    climbs: list[float] = Field(default_factory=lambda: [1.0] * _BETS)
    """The gain of each bet from its likeliest start: Page's CUSUM."""
    starts: list[tuple[int, int, float]] = Field(default_factory=lambda: [(0, 0, 0.0)] * _BETS)
    """What was counted before that start: verdicts, accepts, expected accepts."""

    def __post_init__(self) -> None:
        self._alarm_at = 1 / self.error_bound
        self.evidence = self._mixture()  # M, against the null hypothesis: 1 at first, 1/error_bound at the alarm.

    def update(self, accepted: bool, baseline: float, expected: float | None = None, *, share: float = 1.0) -> bool:
        """Take the next verdict; whether the alarm is raised. Once raised, verdicts change nothing any more.

        `baseline` and `share` may differ from verdict to verdict, and must not depend on this one or later ones.
        `expected` is for `since` alone; the baseline if absent. `share`: of its evidence that the verdict counts for.
        """
        if self.evidence >= self._alarm_at:
            return True
        here = (self.verdicts, self.accepted, self.expected)
        self.verdicts += 1
        self.accepted += accepted
        self.expected += baseline if expected is None else expected
        start = weight_left(self.verdicts - 1) - weight_left(self.verdicts)
        for k, factor in enumerate(bet_factors(baseline)[not accepted]):
            gain = factor**share if share < 1 else factor
            self.sums[k] = (self.sums[k] + start) * gain
            if self.climbs[k] <= 1:
                self.climbs[k], self.starts[k] = 1.0, here
            self.climbs[k] *= gain
        self.evidence = self._mixture()
        return self.evidence >= self._alarm_at

    def discount(self, share: float) -> None:
        """Let what was gained so far count for a share of its logarithm: never more, so the test stays valid."""
        if self.evidence >= self._alarm_at:
            return
        for k, climb in enumerate(self.climbs):
            if climb > 1:
                self.climbs[k] = climb**share
                self.sums[k] *= self.climbs[k] / climb
        self.evidence = self._mixture()

    @property
    def since(self) -> Since:
        """Verdicts since the likeliest start of the drop with the most evidence."""
        best = max(range(len(self.sums)), key=lambda k: BET_WEIGHTS[k] * self.sums[k])
        verdicts, accepted, expected = self.starts[best]
        return Since(self.verdicts - verdicts, self.accepted - accepted, self.expected - expected)

    def _mixture(self) -> float:
        return weight_left(self.verdicts) + sum(w * gained for w, gained in zip(BET_WEIGHTS, self.sums, strict=True))
