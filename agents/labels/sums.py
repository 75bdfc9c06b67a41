"""The verdicts of one stratum and the labels of those that were drawn, as a few sums."""

from pydantic import BaseModel, ConfigDict, Field


class Sums(BaseModel):
    """Counts and weighted sums, from which everything about a stratum is computed.

    A label weighs 1/pi, where pi is the probability that its verdict was drawn with. `unsure` counts as half a good one
    and half a bad one. Whoever was asked and has not answered is missing: a drawn verdict then has a label with a
    probability of pi times the share that is answered.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    verdicts: int = Field(default=0, ge=0)
    asked: int = Field(default=0, ge=0)
    labels: int = Field(default=0, ge=0)
    """Drawn verdicts that have a label."""
    weight: float = 0.0
    """Sum of 1/pi."""
    good: float = 0.0
    """Sum of y/pi; y is 1 for a good one."""
    squares: float = 0.0
    """Sum of 1/pi squared."""
    good_squares: float = 0.0
    """Sum of y/pi squared."""

    def add(self, good: float, probability: float, times: int = 1) -> None:
        """Count a label, or take it back with `times` -1."""
        weight = times / probability
        self.labels += times
        self.weight += weight
        self.good += good * weight
        self.squares += weight / probability
        self.good_squares += good * weight / probability
        if not self.labels:
            # No rounding stays behind.
            self.weight = self.good = self.squares = self.good_squares = 0.0

    @property
    def answered(self) -> float:
        """The share of those asked for that have a label; 1 before any is asked for."""
        return min(1.0, self.labels / self.asked) if self.asked else 1.0

    @property
    def unit(self) -> float:
        """What a label weighs: of unlike ones the heavy ones count more, as what they stand for was seen least."""
        return self.squares / self.weight if self.labels else 0.0

    @property
    def mean(self) -> float:
        """The share of good ones, as if one good and one bad label had been there before."""
        return (self.good + self.unit) / (self.weight + 2 * self.unit) if self.labels else 0.5

    @property
    def effective(self) -> float:
        """Labels that are worth as much, if all weighed the same."""
        return self.weight**2 / self.squares if self.labels else 0.0

    @property
    def enough(self) -> bool:
        """True from five labels on, or where every verdict has one."""
        return self.labels >= min(5, self.verdicts)
