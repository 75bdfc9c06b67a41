"""The interval that a success rate is shown with."""

import math


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a success rate (Wilson 1927), 95% unless `z` says otherwise; (0, 1) where `n` is 0.

    It holds for a number of verdicts fixed beforehand: right to show, wrong to raise alarms on.

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
