"""How far two encodings are apart, for the relaxed second challenge (paper, appendix C.1)."""

from collections.abc import Callable
from typing import Literal

Bits = tuple[int, ...]
"""An encoding: a bit a criterion, in the rubric's order."""

Distance = Callable[[Bits, Bits], float]
"""From two encodings of equal length to 0 (the same) up to 1."""

DistanceName = Literal["hamming", "jaccard"]


def hamming(first: Bits, second: Bits) -> float:
    """The share of criteria on which they differ; 0 for empty encodings."""
    pairs = list(zip(first, second, strict=True))
    return sum(a != b for a, b in pairs) / len(pairs) if pairs else 0.0


def jaccard(first: Bits, second: Bits) -> float:
    """Of the criteria that hold for either, the share that does not hold for both; 0 where none holds."""
    pairs = list(zip(first, second, strict=True))
    either = sum(a or b for a, b in pairs)
    return 1 - sum(a and b for a, b in pairs) / either if either else 0.0


DISTANCES: dict[DistanceName, Distance] = {"hamming": hamming, "jaccard": jaccard}
