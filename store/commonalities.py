"""What rejects have in common: attributes that they have more often than accepts of the same series do.

Each attribute is tested by Fisher's exact test, one-sided, in two rounds.

**Corrected for how many were looked at.** What is named holds with a family-wise error rate of at most `ERROR` (Holm),
whatever depends on what: of reports on series in which nothing is different at most one in a hundred names anything,
and next to what is different nothing else is named as often. Benjamini-Hochberg would bound the share of wrong names
only, and people act on each. Attributes that are too rare to be named whatever their outcomes are not counted
(Tarone): that depends on how often they occur, not on where.

**Told as one.** The strongest is named first, and the verdicts that have it are set aside. What is not significant in
the others as well, such as the hour of a release, is told with it.

Pure functions: the page asks them of stored verdicts, the trust monitor of a series' latest.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Final, TypeAlias

from schemas import Attribute, Commonality

ERROR: Final = 0.01
"""Probability that anything is named of a series in which nothing is different."""

_LEAST: Final = 5  # Rejects with an attribute: two of the same input, which a judge fails alike, are an anecdote.
_ALSO: Final = 3
_COVERED: Final = 0.8  # Part of an attribute's rejects that have the stronger one, too, where the two are one,
_SHARED: Final = 0.5  # and that of the stronger one's rejects that have it.
_LAST: Final = ("checker_version", "config_digest", "hour")
"""Of attributes that are equally strong the first by name is named, these last: others say more."""

Attributes: TypeAlias = frozenset[Attribute]


def commonalities(rejects: Sequence[Attributes], accepts: Sequence[Attributes]) -> list[Commonality]:
    """What rejects have in common, the strongest first; each verdict is given by what it has."""
    found: list[Commonality] = []
    left, others = list(rejects), list(accepts)
    pending = significant(left, others)
    while pending:
        strongest = min(
            pending, key=lambda one: (pending[one], _LAST.index(one.name) if one.name in _LAST else -1, one)
        )
        having = [one for one in left if strongest in one]
        left, others = ([one for one in each if strongest not in one] for each in (left, others))
        still = significant(left, others)
        implied = sorted((one for one in pending if one not in still and one != strongest), key=pending.__getitem__)
        shared = Counter(chain.from_iterable(having))
        total = Counter(chain.from_iterable(rejects))
        also = [one for one in implied if shared[one] >= max(_COVERED * total[one], _SHARED * len(having))]
        found.append(
            Commonality(
                name=strongest.name,
                value=strongest.value,
                rejects_with=total[strongest],
                rejects=len(rejects),
                accepts_with=sum(strongest in one for one in accepts),
                accepts=len(accepts),
                also=tuple(f"{one.name} {one.value}" for one in also[:_ALSO]),
            )
        )
        pending = {one: max(p, still[one]) for one, p in pending.items() if one in still}
    return found


def significant(rejects: Sequence[Attributes], accepts: Sequence[Attributes]) -> dict[Attribute, float]:
    """The attributes that rejects have significantly more often, each with the logarithm of its p-value."""
    with_it, of_accepts = Counter(chain.from_iterable(rejects)), Counter(chain.from_iterable(accepts))
    number, others = len(rejects), len(accepts)
    tail = cache(lambda least, total: _log_tail(least, total, number, others))
    totals = {one: total for one in with_it if (total := with_it[one] + of_accepts[one]) >= _LEAST}
    best = {one: tail(min(total, number), total) for one, total in totals.items()}
    lowest, tests = sorted(best.values()), 1
    while bisect_right(lowest, math.log(ERROR / tests)) > tests:
        tests += 1
    tested = {one: tail(with_it[one], totals[one]) for one, p in best.items() if p <= math.log(ERROR / tests)}
    found: dict[Attribute, float] = {}
    for place, (one, p) in enumerate(sorted(tested.items(), key=lambda pair: pair[1])):
        if p > math.log(ERROR / (len(tested) - place)):
            break
        if with_it[one] >= _LEAST:
            found[one] = p
    return found


def _log_tail(least: int, total: int, rejects: int, accepts: int) -> float:
    """Logarithm of the probability that of `total` verdicts, drawn from all, `least` or more are rejects."""
    most = min(total, rejects)
    terms = [
        _log_choose(rejects, each) + _log_choose(accepts, total - each)
        for each in range(max(least, total - accepts), most + 1)
    ]
    highest = max(terms)
    tail = highest + math.log(sum(math.exp(term - highest) for term in terms))
    return min(0.0, tail - _log_choose(rejects + accepts, total))


def _log_choose(number: int, chosen: int) -> float:
    return math.lgamma(number + 1) - math.lgamma(chosen + 1) - math.lgamma(number - chosen + 1)
