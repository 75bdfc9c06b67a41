"""What is said of two texts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opinion:
    """An answer to whether two texts mean, or could mean, the same."""

    same: bool
    explanation: str
