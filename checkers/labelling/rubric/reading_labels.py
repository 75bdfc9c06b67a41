"""How the bits make the label, out of a rubric's tree."""

import math
from collections.abc import Sequence

from checkers.labelling.aggregators import Aggregator, AllHold, AnyHolds, Majority, Weighted
from checkers.labelling.rubric.comparisons import Number
from checkers.labelling.rubric.faults import Fault, Refused, not_among
from checkers.labelling.rubric.nodes import Entry, Mapping, Node, Scalar
from checkers.labelling.rubric.scalars import read_mapping, read_number, read_word, refused
from schemas.evidence import Label

_WAYS = ("majority", "any", "all")
_KEYS = ("by", "ties", "weights", "threshold", "values")
_MAX_LABEL = 200
_MAX_WEIGHT = 1e9


def read_label(entry: Entry, names: Sequence[str]) -> tuple[Aggregator, tuple[Label, Label]]:
    """The aggregator, and the labels that 0 and 1 stand for; `names` are those of the criteria.

    Raises:
        Refused: the entry says none.
    """
    if isinstance(entry.value, Scalar):
        return _voting(read_word(entry, _WAYS), None), (0, 1)
    wanted = f"'label' takes one of {', '.join(_WAYS)}, or a mapping with {', '.join(_KEYS)}"
    mapping = read_mapping(entry.value, _KEYS, wanted)
    values = mapping.get("values")
    labels = (0, 1) if values is None else _labels(values)
    by = mapping.get("by")
    if by is None:
        raise Refused.at(mapping.place, f"'by' is missing; it takes one of {', '.join((*_WAYS, 'weights'))}")
    way = read_word(by, (*_WAYS, "weights"))
    _check_goes_with(mapping, way)
    if way == "weights":
        return _weighted(mapping, names), labels
    return _voting(way, mapping.get("ties")), labels


def _voting(way: str, ties: Entry | None) -> Aggregator:
    if way != "majority":
        return AnyHolds() if way == "any" else AllHold()
    if ties is None:
        return Majority()
    tie = read_number(ties.value, "ties")
    if tie not in {0, 1}:
        raise refused(ties.value, "'ties' takes 0 or 1")
    return Majority(ties=int(tie))


def _check_goes_with(mapping: Mapping, way: str) -> None:
    allowed = {"majority": ("ties",), "weights": ("weights", "threshold")}.get(way, ())
    faults = [
        Fault(entry.place, f"'{entry.key}' does not go with 'by: {way}'")
        for entry in mapping.entries
        if entry.key not in {"by", "values", *allowed}
    ]
    if faults:
        raise Refused(*faults)


def _weighted(mapping: Mapping, names: Sequence[str]) -> Aggregator:
    weights, threshold = mapping.get("weights"), mapping.get("threshold")
    if weights is None or threshold is None:
        raise Refused.at(mapping.place, "'by: weights' needs 'weights', a number for each criterion, and 'threshold'")
    found = _weights(weights.value, names)
    limit = read_number(threshold.value, "threshold")
    most = math.fsum(weight for weight in found if weight > 0)
    least = math.fsum(weight for weight in found if weight < 0)
    if not least < limit <= most:
        always = "1" if limit <= least else "0"
        said = f"with the threshold {limit} every aggregated bit would be {always}"
        raise Refused.at(threshold.value.place, f"{said}; allowed is above {least:g} and up to {most:g}")
    return Weighted(tuple(found), limit)


def _weights(node: Node, names: Sequence[str]) -> list[Number]:
    if not isinstance(node, Mapping):
        raise refused(node, "'weights' takes a mapping from the names of the criteria to numbers")
    faults = [
        Fault(one.place, not_among("criterion of this rubric", one.key, names))
        for one in node.entries
        if one.key not in names
    ]
    entries = [node.get(name) for name in names]
    faults += [
        Fault(node.place, f"the criterion {name} has no weight; every criterion needs one")
        for name, entry in zip(names, entries, strict=True)
        if entry is None
    ]
    if faults:
        raise Refused(*faults)
    return [_weight(entry) for entry in entries if entry is not None]


def _weight(entry: Entry) -> Number:
    weight = read_number(entry.value, entry.key)
    if not 0 < abs(weight) <= _MAX_WEIGHT:
        raise refused(entry.value, f"a weight is a number other than 0, up to {_MAX_WEIGHT:g}")
    return weight


def _labels(entry: Entry) -> tuple[Label, Label]:
    wanted = "'values' takes the two labels that 0 and 1 stand for, such as {0: routine, 1: urgent}"
    mapping = read_mapping(entry.value, ("0", "1"), wanted)
    zero, one = mapping.get("0"), mapping.get("1")
    if zero is None or one is None:
        raise refused(entry.value, wanted)
    labels = (_label(zero), _label(one))
    # What reads the same is the same label to whoever compares labels: 1, "1" and true are.
    if _spelled(labels[0]) == _spelled(labels[1]):
        raise Refused.at(one.value.place, "both labels are the same; 0 and 1 must stand for different ones")
    return labels


def _label(entry: Entry) -> Label:
    wanted = f"a label is a text of 1 to {_MAX_LABEL} characters, a whole number, true or false"
    value = entry.value.value if isinstance(entry.value, Scalar) else None
    if isinstance(value, int) or (isinstance(value, str) and 0 < len(value.strip()) <= _MAX_LABEL):
        return value
    raise refused(entry.value, wanted)


def _spelled(label: Label) -> str:
    return str(int(label)) if isinstance(label, bool) else str(label).strip()
