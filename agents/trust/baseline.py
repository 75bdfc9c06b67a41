"""The success rate that a series has shown, learned from its own verdicts: a lower bound that holds at all times.

Let p(i) be the probability of an accept at verdict i, given all before it, and P(n) the mean of the first n of them.
For c > 0 the product over i of exp(c x_i) / (1 + p(i) (e^c - 1)) is a martingale that starts at 1. The logarithm of
the denominator is concave in p, so by Jensen's inequality

    E(n, m) = exp(c A(n) - n log(1 + m (e^c - 1))),    A(n): accepts among the first n

is at m = P(n) never above that martingale; nor is a mixture of such E over several c above the mixture of the
martingales (Robbins 1970). By Ville's inequality (1939) the mixture therefore stays below 1/error_bound at m = P(n) for
all n at once, with a probability of at least 1 - error_bound. It falls in m, and the bound is the m where it is
1/error_bound: a confidence sequence (Howard, Ramdas, McAuliffe & Sekhon, "Time-uniform Chernoff bounds via nonnegative
supermartingales", Probability Surveys 17, 2020, the sub-Bernoulli case, and "Time-uniform, nonparametric, nonasymptotic
confidence sequences", Ann. Stat. 49, 2021).

The beta-binomial mixture has a closed form, but it bounds a rate that never changes; this one needs no such assumption,
and is about as tight: its cost is the logarithm of the number of tilts c, not half that of n.
"""

import math
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_SMALLEST_TILT, _TILT_RATIO, _TILT_COUNT = 0.002, 1.5, 22

_TILTS = tuple(_SMALLEST_TILT * _TILT_RATIO**k for k in range(_TILT_COUNT))
"""The best one at n verdicts is about sqrt(2 log(1/error_bound) / (n p (1 - p))): from a handful of verdicts to 40
million, beyond which the bound stays about 0.0002 away."""

_ODDS = tuple(math.expm1(tilt) for tilt in _TILTS)

_LOG_COUNT = math.log(_TILT_COUNT)

_BISECTIONS = 30
"""To 1e-9."""

_GROWTH = 20
"""The bound is taken anew when the verdicts are 1/20 more: it narrows as their square root, by 2.5%."""


def lower_bound(accepted: int, verdicts: int, error_bound: float, floor: float = 0.0) -> float:
    """The mean success rate is at least this, for all numbers of verdicts at once, but for a chance of `error_bound`.

    `floor` is the least to be returned, where a bound already holds.
    """
    level = math.log(1 / error_bound)
    low, high = floor, accepted / verdicts
    if high <= low or _log_evidence(accepted, verdicts, low) < level:
        return floor
    # At the observed rate the evidence is at most 1, by convexity of the exponential, so the bound is in between.
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _log_evidence(accepted, verdicts, middle) >= level:
            low = middle
        else:
            high = middle
    return low


def _log_evidence(accepted: int, verdicts: int, rate: float) -> float:
    """Log evidence against a mean success rate of at most `rate`."""
    terms = [tilt * accepted - verdicts * math.log1p(rate * odds) for tilt, odds in zip(_TILTS, _ODDS, strict=True)]
    most = max(terms)
    return most + math.log(sum(math.exp(term - most) for term in terms)) - _LOG_COUNT


def next_look(verdicts: int) -> int:
    """Number of verdicts after which the bound is computed again. It holds at all times, so any schedule will do."""
    return verdicts + max(1, verdicts // _GROWTH)


class _BaselineState(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    error_bound: float
    verdicts: int = Field(ge=0)
    accepted: int = Field(ge=0)
    bound: float = Field(ge=0, le=1)
    due: int = Field(ge=1)


class LearnedBaseline:
    """The highest lower bound so far of the mean success rate.

    A rate that declines slowly does not take its baseline along: the bound only ever rises. That is valid because the
    bounds hold at all times together: the highest of them is at most the highest mean that the rate has had, but for a
    chance of `error_bound`. So a test against it is wrong with a probability of at most this bound and the test's own
    together, for a series whose rate is never below the highest mean that it had before: a steady or a rising one. Who
    promises one bound for both gives each a half.

    Use `rate` for a verdict first, and `update` with that verdict after: a baseline must not know what it is held
    against.
    """

    def __init__(self, error_bound: float, at_least: int = 50) -> None:
        """Begin with no verdict; there is no rate before `at_least` of them.

        Raises:
            ValueError: the error bound is not between 0 and 1, both excluded, or `at_least` is below 1.
        """
        if not 0 < error_bound < 1:
            raise ValueError(f"error_bound is {error_bound}: it must be above 0 and below 1")
        if at_least < 1:
            raise ValueError(f"at_least is {at_least}: it must be 1 or more")
        self._error_bound = error_bound
        self._at_least = at_least
        self._verdicts = 0
        self._accepted = 0
        self._bound = 0.0
        self._due = at_least

    def update(self, accepted: bool) -> None:
        self._verdicts += 1
        self._accepted += accepted
        if self._verdicts >= self._due:
            self._bound = lower_bound(self._accepted, self._verdicts, self._error_bound, self._bound)
            self._due = next_look(self._verdicts)

    @property
    def rate(self) -> float | None:
        """The baseline; None while there are too few verdicts."""
        return self._bound if self._verdicts >= self._at_least else None

    def state(self) -> dict[str, JsonValue]:
        """The state as JSON."""
        return {
            "error_bound": self._error_bound,
            "verdicts": self._verdicts,
            "accepted": self._accepted,
            "bound": self._bound,
            "due": self._due,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, JsonValue], *, error_bound: float, at_least: int = 50) -> "LearnedBaseline":
        """The baseline that `state` was taken of, to the last bit. `at_least` may be another one.

        Raises:
            ValueError: it is not a state, or is one with another error bound.
        """
        read = _BaselineState.model_validate(state)
        baseline = cls(error_bound, at_least)
        if read.error_bound != error_bound:
            raise ValueError(f"the state is of a baseline with error_bound {read.error_bound}, not {error_bound}")
        if read.accepted > read.verdicts:
            raise ValueError(f"the state has {read.accepted} accepted of {read.verdicts} verdicts")
        baseline._verdicts = read.verdicts
        baseline._accepted = read.accepted
        baseline._bound = read.bound
        baseline._due = read.due
        return baseline
