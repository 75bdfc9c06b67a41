"""Series and labels that PromQL expressions ask for, read from their text."""

import re
from collections.abc import Mapping

from tests.deploy.metric_names import OF_PROMETHEUS, ON_ALL

LABELS_BY_LEVEL = {
    "subject": {"checker", "source", "model"},
    "subject_outcome": {"checker", "source", "model", "outcome"},
    "checker_source": {"checker", "source"},
    "checker": {"checker"},
    "agent": {"agent"},
    "judge": {"judge"},
    "budget": {"name", "unit"},
    "runbook": {"url", "page"},
}
"""The labels of a recorded series, by the level that its name begins with."""

_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
_SERIES = re.compile(rf"(?<![\w:])((?:\w+:)?assay_\w+(?::\w+)?|{'|'.join(OF_PROMETHEUS)})(?![\w:(])(?:\{{([^}}]*)\}})?")
_GROUPING = re.compile(r"\b(?:by|on|ignoring|without)\s*\(([^)]*)\)")
_NEW_LABEL = re.compile(r"label_replace\(.*?,\s*\"(\w+)\",\s*\"\$1\"", re.DOTALL)


def series(expression: str) -> dict[str, set[str]]:
    """The names of the series that are asked for, and the labels by which they are."""
    found: dict[str, set[str]] = {}
    for name, matchers in _SERIES.findall(_STRING.sub('""', expression)):
        found.setdefault(name, set()).update(re.findall(r"(\w+)\s*[=!]~?", matchers))
    return found


def faults(expression: str, known: Mapping[str, set[str]]) -> list[str]:
    """Faults of an expression: series, labels of series, labels to group and match by that are not there."""
    asked = series(expression)
    if not asked:
        return [f"asks for no series: {expression}"]
    wrong = [f"{name} does not exist: {expression}" for name in asked if name not in known]
    wrong += [
        f"{name} has no {sorted(labels - known[name] - ON_ALL)}: {expression}"
        for name, labels in asked.items()
        if name in known and not labels <= known[name] | ON_ALL
    ]
    there = ON_ALL.union(*(known.get(name, set()) for name in asked), _NEW_LABEL.findall(expression))
    for group in _GROUPING.findall(expression):
        labels = {label.strip() for label in group.split(",") if label.strip()}
        if not labels <= there:
            wrong.append(f"nothing has {sorted(labels - there)}: {expression}")
    return wrong
