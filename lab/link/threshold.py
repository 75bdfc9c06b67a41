"""The critic's dynamic threshold (LINK, appendix B)."""

from collections.abc import Sequence

START = 0.85
STEP = 0.05
TYPE_FLOOR = 0.65
"""A critic is more certain about data types than about facts."""
FACT_FLOOR = 0.5

_DIGITS = 9


class DynamicThreshold:
    """The probability of "yes" from which values of one predicate in one beam are accepted.

    It falls, a step at a time, until some value reaches it or the next step would be below the floor. From then on it
    never falls again, and it rises for as long as some value reaches the next step: values that were accepted before
    and are below it are no longer. What it comes to does not depend on the order in which values are seen.
    """

    def __init__(self, floor: float) -> None:
        self._floor = floor
        self._steps = 0
        """Above the start; negative below it."""
        self._best = 0.0
        """The highest probability of all values so far."""

    @property
    def value(self) -> float:
        """The threshold now."""
        return _at(self._steps)

    @property
    def is_settled(self) -> bool:
        """True if some value has reached it."""
        return self._best >= self.value

    def see(self, probabilities: Sequence[float | None]) -> None:
        """Take in the values of one call, None where the critic did not answer; earlier ones are to be judged again."""
        known = [one for one in probabilities if one is not None]
        if not known:
            return
        self._best = max(self._best, *known)
        while not self.is_settled and _at(self._steps - 1) >= self._floor:
            self._steps -= 1
        # A threshold of 1 would ask for more certainty than there is: such a probability has been rounded.
        while self._best >= _at(self._steps + 1) and _at(self._steps + 1) < 1:
            self._steps += 1

    def accepts(self, probability: float | None) -> bool:
        """True if a value of this probability is accepted now; not so if the critic did not answer."""
        return probability is not None and probability >= self.value


def _at(steps: int) -> float:
    # Rounded, so that 0.85 - 4 * 0.05 is 0.65 and not a little more.
    return round(START + steps * STEP, _DIGITS)
