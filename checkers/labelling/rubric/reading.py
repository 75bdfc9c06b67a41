"""Conditions out of a rubric's tree."""

import json
from collections.abc import Mapping as MappingOf
from collections.abc import Sequence
from types import MappingProxyType

from checkers.labelling.rubric.booleans import And, Not, Or, Xor
from checkers.labelling.rubric.comparisons import COMPARISON_WORDS
from checkers.labelling.rubric.conditions import Asked, Condition, Exists, Rule
from checkers.labelling.rubric.faults import Fault, Refused
from checkers.labelling.rubric.nodes import Entry, Mapping, Node
from checkers.labelling.rubric.paths import Path, parse_path
from checkers.labelling.rubric.reading_tests import read_number_test, read_test
from checkers.labelling.rubric.scalars import read_flag, read_list, read_mapping, read_text

_MAX_DEPTH = 8
_MAX_CLAUSES = 50
_MAX_QUESTION = 4000

_CASED = ("field", "case")
_BESIDE: MappingOf[str, tuple[str, ...]] = MappingProxyType(
    {
        "contains": _CASED,
        "starts": _CASED,
        "ends": _CASED,
        "equals": _CASED,
        "in": _CASED,
        "matches": _CASED,
        "count": (*_CASED, *COMPARISON_WORDS),
        "length": ("field", *COMPARISON_WORDS),
        "type": ("field",),
        "exists": ("field",),
        "ask": ("field",),
        "and": (),
        "or": (),
        "xor": (),
        "not": (),
    }
)
"""What may stand beside the key that says what is tested."""

_TESTED = tuple(_BESIDE)
CONDITION_KEYS = (*_TESTED, *COMPARISON_WORDS, "field", "case")

_JOINTS: MappingOf[str, type[And | Or | Xor]] = MappingProxyType({"and": And, "or": Or, "xor": Xor})


def read_condition(node: Node, depth: int = 0) -> Condition:
    """The condition that a mapping says; `depth` counts the conditions around it.

    Raises:
        Refused: it says none.
    """
    if depth > _MAX_DEPTH:
        raise Refused.at(node.place, f"conditions are nested more than {_MAX_DEPTH} deep")
    mapping = read_mapping(node, CONDITION_KEYS, 'a condition is a mapping such as {contains: "word"}')
    head = _only(mapping, _TESTED, "join two conditions with and, or or xor")
    compared = _only(mapping, COMPARISON_WORDS, "for two bounds write between: [LOW, HIGH]")
    if head is not None:
        return _headed(mapping, head, compared, depth)
    if compared is None:
        raise Refused.at(mapping.place, f"nothing is tested here; allowed: {', '.join((*_TESTED, *COMPARISON_WORDS))}")
    if case := mapping.get("case"):
        raise Refused.at(case.place, f"'case' stands beside '{compared.key}' of a number; allowed: field")
    return Rule(read_number_test(compared), _path(mapping.get("field")))


def _headed(mapping: Mapping, head: Entry, compared: Entry | None, depth: int) -> Condition:
    _check_beside(mapping, head)
    if head.key in _JOINTS:
        return _JOINTS[head.key](_clauses(head, depth + 1))
    if head.key == "not":
        return Not(read_condition(head.value, depth + 1))
    path = _path(mapping.get("field"))
    if head.key == "ask":
        return Asked(read_text(head, limit=_MAX_QUESTION), path)
    if head.key == "exists":
        if path is None:
            raise Refused.at(head.place, "'exists' needs a field, such as {field: customer.name, exists: true}")
        return Exists(path, read_flag(head))
    return Rule(read_test(head, compared, mapping.get("case")), path)


def _clauses(head: Entry, depth: int) -> tuple[Condition, ...]:
    nodes = read_list(head, least=2, most=2 if head.key == "xor" else _MAX_CLAUSES, of="conditions")
    conditions: dict[str, Condition] = {}
    faults: list[Fault] = []
    for node in nodes:
        try:
            condition = read_condition(node, depth)
        except Refused as error:
            faults.extend(error.faults)
            continue
        meaning = json.dumps(condition.meaning)
        if meaning in conditions:
            faults.append(Fault(node.place, f"this condition stands twice; '{head.key}' joins different ones"))
        conditions[meaning] = condition
    if faults:
        raise Refused(*faults)
    return tuple(conditions.values())


def _only(mapping: Mapping, keys: Sequence[str], advice: str) -> Entry | None:
    found = [entry for entry in mapping.entries if entry.key in keys]
    if len(found) > 1:
        raise Refused.at(found[1].place, f"'{found[1].key}' stands beside '{found[0].key}'; {advice}")
    return found[0] if found else None


def _check_beside(mapping: Mapping, head: Entry) -> None:
    beside = _BESIDE[head.key]
    allowed = f"allowed: {', '.join(beside)}" if beside else "allowed is nothing"
    faults = [
        Fault(entry.place, f"'{entry.key}' stands beside '{head.key}'; {allowed}")
        for entry in mapping.entries
        if entry is not head and entry.key not in beside
    ]
    if faults:
        raise Refused(*faults)


def _path(entry: Entry | None) -> Path | None:
    if entry is None:
        return None
    try:
        return parse_path(read_text(entry))
    except ValueError as error:
        raise Refused.at(entry.value.place, f"'field' takes a path, not this: {error}") from None
