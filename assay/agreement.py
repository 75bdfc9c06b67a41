"""People's labels of a verdict, and how a labelled record says with what probability it was drawn."""

from collections.abc import Iterable
from typing import Final

from schemas import Label, valid_labels

DRAWN: Final = "assay_drawn"
"""Field of a labelled record with its sampling rate and whether it is in the even sample."""

_HALF = 0.5


def decided(labels: Iterable[Label]) -> bool | None:
    """Whether an output is good, by people's labels of one verdict; None if they are of two minds or say nothing."""
    values = [each.value or 0.0 for each in valid_labels(labels).values()]
    mean = sum(values) / len(values) if values else _HALF
    return None if mean == _HALF else mean > _HALF
