"""The intervals that success rates and their differences are shown with."""

import math
import statistics
from collections.abc import Sequence


def wilson(successes: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a success rate (Wilson 1927), 95% unless `z` says otherwise; (0, 1) where `n` is 0.

    It holds for a number of verdicts fixed beforehand: right to show, wrong to raise alarms on. Both are whole unless
    `n` is an effective number, of verdicts that are not independent.
    """
    if n == 0:
        return 0.0, 1.0
    rate = successes / n
    shrink = 1 / (1 + z * z / n)
    middle = shrink * (rate + z * z / (2 * n))
    reach = shrink * z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At the ends the bound is the rate itself, which rounding may miss.
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == n else min(1.0, middle + reach)
    return low, high


def difference(first: tuple[float, float], second: tuple[float, float], z: float = 1.96) -> tuple[float, float]:
    """Newcombe's hybrid score interval of the first success rate less the second (Newcombe 1998, method 10).

    Each is given as successes and number; of independent ones, and 95% unless `z` says otherwise. (-1, 1) where either
    number is 0.
    """
    (low1, high1), (low2, high2) = wilson(*first, z), wilson(*second, z)
    if not first[1] or not second[1]:
        return -1.0, 1.0
    rate1, rate2 = first[0] / first[1], second[0] / second[1]
    gap = rate1 - rate2
    return gap - math.hypot(rate1 - low1, high2 - rate2), gap + math.hypot(high1 - rate1, rate2 - low2)


def paired(gained: int, lost: int, both: int) -> tuple[float, float]:
    """The 95% interval of the later success rate less the earlier one, of the same records (Bonett and Price, 2012).

    Of `both`, those that are decided twice, `gained` became a success and `lost` are none any more.
    """
    n, change = both + 2, gained - lost
    reach = 1.96 * math.sqrt(max(gained + lost + 2 - change**2 / n, 0.0)) / n
    return max(change / n - reach, -1.0), min(change / n + reach, 1.0)


def total(sample: Sequence[float], n: int) -> tuple[float, float]:
    """The 95% interval of the sum over all `n`, by Student's t for a sample of at least two without replacement."""
    drawn, free, z = len(sample), len(sample) - 1, 1.96
    # The first terms of t's quantile in powers of 1 / degrees of freedom.
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    half = t * n * statistics.stdev(sample) * math.sqrt((1 - drawn / n) / drawn)
    estimated = n * statistics.mean(sample)
    # What was measured is certain.
    return max(estimated - half, sum(sample)), estimated + half
