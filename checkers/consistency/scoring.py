"""From marks to a score (paper, equation 3 and appendix A.4)."""

from collections.abc import Sequence
from statistics import fmean

WORST_SHARE = 0.4
"""Weight of the worst sentence in a graded score, beyond its part in the mean."""


def consistent_share(marks: Sequence[float], *, alpha: float = 0, beta: float = 0) -> float | None:
    """Scale ((sum of marks + alpha) / (number of marks + beta)) from -1..1 to 0..1.

    `marks` are 1 (consistent) or -1 (not), those of entries that judge the whole included; `alpha` is minus the
    sum and `beta` minus the number of the latter, so that they count for nothing.

    Returns:
        0 to 1; exactly 1 where no mark is negative; None where nothing is left to divide by.
    """
    entries = len(marks) + beta
    if entries <= 0:
        return None
    return ((sum(marks) + alpha) / entries + 1) / 2


def graded_score(supports: Sequence[float]) -> float:
    """The score from a judge that grades: three fifths the sentences' mean support, two fifths the worst one's.

    The mean is equation 3 over marks of 2 * support - 1. Alone it would let many good sentences hide a false one,
    which plain marks never do. `supports` holds at least one, each 0 to 1.
    """
    return round((1 - WORST_SHARE) * fmean(supports) + WORST_SHARE * min(supports), 6)
