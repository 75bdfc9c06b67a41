"""People's labels of a verdict, and a record with them, which says with what probability it was drawn."""

from collections.abc import Collection, Iterable
from typing import Any, Final

from agents.routing import sample_point
from schemas import Label, valid_labels

DRAWN: Final = "assay_drawn"
"""Field of a labelled record with its sampling rate and whether it is in the even sample."""

_HALF = 0.5


def decided(labels: Iterable[Label]) -> bool | None:
    """Whether an output is good, by people's labels of one verdict; None if they are of two minds or say nothing."""
    values = [each.value or 0.0 for each in valid_labels(labels).values()]
    mean = sum(values) / len(values) if values else _HALF
    return None if mean == _HALF else mean > _HALF


def with_label(
    record: dict[str, Any], verdict_id: str, labels: Collection[Label], *, drawn_with: float | None, least: float
) -> dict[str, Any]:
    """The record with what people say of its verdict, if they are of one mind; a complaint has no `drawn_with`.

    Records with a higher sampling rate are skipped at random until all have the `least`.
    """
    if (accept := decided(labels)) is None:
        return record
    even = drawn_with is not None and sample_point("calibrate", verdict_id) < least / drawn_with
    added = {"label": "accept" if accept else "reject", DRAWN: [drawn_with or 1.0, even]}
    spans = [each.span for each in labels if each.span and each.span in str(record.get("response", ""))]
    return record | added | ({"words": spans[0]} if spans and not accept else {})
