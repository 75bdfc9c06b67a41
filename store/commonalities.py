"""What rejects have in common: attributes that they have more often than accepts of the same series do.

Each is tested by Fisher's exact test, one-sided, and Holm's method corrects for how many there are: anything is named
by chance with a probability of at most `ERROR`. Benjamini-Hochberg would bound the share of wrong names only, and
people act on each. Then the verdicts that have the strongest are set aside: what is not significant in the others as
well, such as the hour of a release, goes with it and is not named.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, TypeAlias

from schemas import Attribute, Commonality

ERROR: Final = 0.01
_LEAST: Final = 5  # Rejects with an attribute: two of the same input, which a judge fails alike, are an anecdote.

Attributes: TypeAlias = frozenset[Attribute]


def commonalities(rejects: Sequence[Attributes], accepts: Sequence[Attributes]) -> list[Commonality]:
    """What rejects have in common, the strongest first; each verdict is given by what it has."""
    of_rejects, of_accepts = _counted(rejects), _counted(accepts)
    left, others, found = rejects, accepts, list[Commonality]()
    pending = significant(left, others)
    while pending:
        # Of equally strong ones the last by name says most: a tenant, metadata.
        strongest = max(pending, key=lambda one: (-pending[one], one))
        left, others = ([one for one in each if strongest not in one] for each in (left, others))
        found.append(
            Commonality(
                **strongest._asdict(),
                rejects_with=of_rejects[strongest],
                rejects=len(rejects),
                accepts_with=of_accepts[strongest],
                accepts=len(accepts),
            )
        )
        pending = {one: p for one, p in significant(left, others).items() if one in pending}
    return found


def significant(rejects: Sequence[Attributes], accepts: Sequence[Attributes]) -> dict[Attribute, float]:
    """The attributes that rejects have significantly more often, each with the logarithm of its p-value."""
    of_rejects = _counted(rejects)
    totals = {one: total for one, total in (of_rejects + _counted(accepts)).items() if total >= _LEAST}
    logs = {one: _log_p(of_rejects[one], total, len(rejects), len(accepts)) for one, total in totals.items()}
    found: dict[Attribute, float] = {}
    for place, one in enumerate(sorted(logs, key=logs.__getitem__)):
        if logs[one] > math.log(ERROR / (len(logs) - place)):
            break
        if of_rejects[one] >= _LEAST:
            found[one] = logs[one]
    return found


def _counted(verdicts: Iterable[Attributes]) -> Counter[Attribute]:
    return Counter(chain.from_iterable(verdicts))


@lru_cache(maxsize=10_000)
def _log_p(least: int, total: int, rejects: int, accepts: int) -> float:
    """Logarithm of the probability that of `total` verdicts, drawn from all, `least` or more are rejects."""
    ways = term = math.comb(rejects, least) * math.comb(accepts, total - least)
    for each in range(least, min(total, rejects)):
        term = term * (rejects - each) * (total - each) // ((each + 1) * (accepts - total + each + 1))
        ways += term
    return math.log(ways) - math.log(math.comb(rejects + accepts, total))
