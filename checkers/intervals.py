"""The intervals that success rates and their differences are shown with."""

import math


def wilson(successes: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a success rate (Wilson 1927), 95% unless `z` says otherwise; (0, 1) where `n` is 0.

    It holds for a number of verdicts fixed beforehand: right to show, wrong to raise alarms on. Both are whole unless
    `n` is an effective number, of verdicts that are not independent.

    Raises:
        ValueError: not 0 <= successes <= n, or z is not positive.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}: allowed are 0 to n, and n from 0")
    if not 0 < z < math.inf:
        raise ValueError(f"z is {z}: it must be positive and finite")
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

    Raises:
        ValueError: as `wilson`.
    """
    (low1, high1), (low2, high2) = wilson(*first, z), wilson(*second, z)
    if not first[1] or not second[1]:
        return -1.0, 1.0
    rate1, rate2 = first[0] / first[1], second[0] / second[1]
    gap = rate1 - rate2
    return gap - math.hypot(rate1 - low1, high2 - rate2), gap + math.hypot(high1 - rate1, rate2 - low2)
