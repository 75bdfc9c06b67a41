"""The criteria of a rubric's tree, each under its name."""

import json
import re

from checkers.labelling.rubric.faults import Faults, Place, Refused, quoted
from checkers.labelling.rubric.nodes import Entry, Mapping, Node
from checkers.labelling.rubric.reading import CONDITION_KEYS, read_condition
from checkers.labelling.rubric.rubric import Criterion
from checkers.labelling.rubric.scalars import read_list, refused

_MAX_CRITERIA = 100
_NAME = re.compile(r"\w[\w-]{0,63}")


def read_criteria(entry: Entry, faults: Faults) -> tuple[list[str], tuple[Criterion, ...]]:
    """The names of all criteria, and the criteria themselves but for those at fault.

    Raises:
        Refused: it is no list.
    """
    places: dict[str, Place] = {}
    criteria: dict[str, Criterion] = {}
    for node in read_list(entry, least=1, most=_MAX_CRITERIA, of="criteria"):
        named = faults.attempt(_named, node)
        if named is None:
            continue
        if named.key in places:
            said = f"the name {named.key} stands on line {places[named.key].line} already; every criterion has its own"
            faults.add(named.place, said)
        places.setdefault(named.key, named.place)
        condition = faults.attempt(read_condition, named.value)
        if condition is None:
            continue
        same = criteria.setdefault(json.dumps(condition.meaning), Criterion(named.key, condition))
        if same.name != named.key:
            faults.add(named.place, f"says the same as {same.name}; to make a criterion count for more, use weights")
    return list(places), tuple(criteria.values())


def check_name(name: str, place: Place) -> str:
    """`name`, where it is one for a rubric or a criterion. Raises Refused where it is not."""
    if not _NAME.fullmatch(name):
        said = f"{quoted(name)} is no name; allowed are 1 to 64 letters, digits, hyphens and underscores"
        raise Refused.at(place, said)
    return name


def _named(node: Node) -> Entry:
    wanted = 'a criterion is a name with a condition, such as - polite: {contains: "please"}'
    if not isinstance(node, Mapping) or not node.entries:
        raise refused(node, wanted)
    first, *others = node.entries
    if first.key in CONDITION_KEYS:
        raise Refused.at(first.place, f"'{first.key}' stands where the criterion's name belongs; {wanted}")
    if others:
        said = (
            f"'{others[0].key}' stands beside the criterion {quoted(first.key)}; indent it more, or begin it with '- '"
        )
        raise Refused.at(others[0].place, said)
    check_name(first.key, first.place)
    return first
