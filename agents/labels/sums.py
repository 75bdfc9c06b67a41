"""The verdicts of one stratum and the labels of those that were drawn, as a few sums."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field


class Sums(BaseModel):
    """Counts and weighted sums, from which everything about a stratum is computed.

    Where routing takes a share p of some records, a verdict on one of them stands for 1/p records. A label weighs 1/pi,
    where pi is the probability that its record was checked, p, times that its verdict was drawn. `unsure` counts as
    half a good one and half a bad one. Whoever was asked and has not answered is missing: a drawn verdict then has a
    label with a probability of pi times the share that is answered.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    verdicts: int = Field(default=0, ge=0)
    beyond: float = 0.0
    """Records that the verdicts stand for beyond those that were checked: the sum of 1/p - 1."""
    unseen: float = 0.0
    """Sum of (1 - p)/p squared: how far chance may move what the verdicts stand for."""
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
    unseen_weight: float = 0.0
    """Sum of (1 - p)/(p pi)."""
    unseen_good: float = 0.0
    """Sum of y (1 - p)/(p pi)."""

    def count(self, share: float = 1.0) -> None:
        """Count a verdict on a record of which routing takes this share."""
        self.verdicts += 1
        self.beyond += 1 / share - 1
        self.unseen += (1 - share) / share**2

    def add(self, good: float, drawn: float, times: int = 1, *, share: float = 1.0) -> None:
        """Count a label, or take it back with `times` -1.

        `share` is the probability that its record was checked, and `drawn` that its verdict was drawn then.
        """
        probability = drawn * share
        weight = times / probability
        self.labels += times
        self.weight += weight
        self.good += good * weight
        self.squares += weight / probability
        self.good_squares += good * weight / probability
        self.unseen_weight += (1 / share - 1) * weight
        self.unseen_good += (1 / share - 1) * good * weight
        if not self.labels:
            # No rounding stays behind.
            self.weight = self.good = self.squares = self.good_squares = self.unseen_weight = self.unseen_good = 0.0

    @property
    def traffic(self) -> float:
        """Records that the verdicts stand for, those that routing left out included."""
        return self.verdicts + self.beyond

    @property
    def answered(self) -> float:
        """The share of those asked for that have a label; 1 before any is asked for."""
        return min(1.0, self.labels / self.asked) if self.asked else 1.0

    @property
    def unit(self) -> float:
        """The weight of a label: of unlike ones the heavy ones count more, as what they stand for was seen least."""
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


def merged(parts: Iterable[Sums]) -> Sums:
    """The sums of all together."""
    each = tuple(parts)
    return Sums.model_construct(**{name: sum(getattr(one, name) for one in each) for name in Sums.model_fields})
