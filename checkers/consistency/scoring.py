"""From marks and supports to a score (paper, equation 3 and appendix A.4)."""

from collections.abc import Sequence
from statistics import fmean

WORST_SHARE = 0.4
"""Weight of the worst sentence in a graded score, beyond its part in the mean."""


def consistent_share(marks: Sequence[float]) -> float | None:
    """The mean of `marks` (1: consistent, -1: not) scaled to 0..1; None where there are none.

    Entries that judge a response as a whole, which the paper takes out by alpha and beta, are never asked for.
    """
    return (fmean(marks) + 1) / 2 if marks else None


def graded_score(supports: Sequence[float]) -> float:
    """The score from a judge that grades: three fifths the sentences' mean support, two fifths the worst one's.

    The mean is equation 3 over marks of 2 * support - 1. Alone it would let many good sentences hide a false one,
    which plain marks never do. `supports` holds at least one, each 0 to 1.
    """
    return round((1 - WORST_SHARE) * fmean(supports) + WORST_SHARE * min(supports), 6)
