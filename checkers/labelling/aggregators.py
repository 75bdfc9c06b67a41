"""Aggregators (paper, section 5): from the bits of a rubric to the bit of the label.

The verifier never uses one; it is what an evaluator claims to know.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Aggregator(Protocol):
    """A function from as many bits as the rubric has criteria, in their order, to one bit."""

    @property
    def description(self) -> str:
        """A sentence that says all of it: for people, for an evaluator's prompt, and part of a rubric's version."""

    def __call__(self, bits: Sequence[int]) -> int:
        """0 or 1.

        Raises:
            ValueError: no bits, anything but 0 and 1 among them, or another number of them than there are weights.
        """


@dataclass(frozen=True, slots=True)
class Majority:
    """1 where more criteria hold than do not, and `ties` where as many do as do not."""

    ties: int = 1

    def __post_init__(self) -> None:
        if self.ties not in {0, 1}:
            raise ValueError(f"ties is {self.ties!r}; allowed are 0 and 1")

    @property
    def description(self) -> str:
        """What it does, in a sentence."""
        return f"Majority vote: 1 if more criteria hold than do not, 0 if fewer do, {self.ties} in a tie."

    def __call__(self, bits: Sequence[int]) -> int:
        """The majority's bit."""
        _check(bits)
        lead = 2 * sum(bits) - len(bits)
        return self.ties if lead == 0 else int(lead > 0)


@dataclass(frozen=True, slots=True)
class AnyHolds:
    """1 where a criterion holds."""

    @property
    def description(self) -> str:
        """What it does, in a sentence."""
        return "1 if at least one criterion holds, else 0."

    def __call__(self, bits: Sequence[int]) -> int:
        """The or of the bits."""
        _check(bits)
        return int(any(bits))


@dataclass(frozen=True, slots=True)
class AllHold:
    """1 where every criterion holds."""

    @property
    def description(self) -> str:
        """What it does, in a sentence."""
        return "1 if every criterion holds, else 0."

    def __call__(self, bits: Sequence[int]) -> int:
        """The and of the bits."""
        _check(bits)
        return int(all(bits))


@dataclass(frozen=True, slots=True)
class Weighted:
    """1 where the weights of the criteria that hold add up to `threshold` or more; weights may be negative."""

    weights: tuple[float, ...]
    threshold: float

    @property
    def description(self) -> str:
        """What it does, in a sentence."""
        weights = ", ".join(map(str, self.weights))
        return (
            f"The criteria have the weights {weights}, in this order: 1 if the weights of those that hold add up to "
            f"{self.threshold} or more, else 0."
        )

    def __call__(self, bits: Sequence[int]) -> int:
        """Whether the sum reaches the threshold."""
        _check(bits)
        if len(bits) != len(self.weights):
            raise ValueError(f"{len(bits)} bits for {len(self.weights)} weights; there must be as many")
        return int(sum(weight for weight, bit in zip(self.weights, bits, strict=True) if bit) >= self.threshold)


def _check(bits: Sequence[int]) -> None:
    if not bits:
        raise ValueError("no bits to aggregate; a rubric has at least one criterion")
    for place, bit in enumerate(bits):
        if bit not in {0, 1}:
            raise ValueError(f"bit {place} is {bit!r}; allowed are 0 and 1")
