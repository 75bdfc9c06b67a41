"""Simulated subjects over a whole corpus, through `assay probes run`: do they come out at their known accuracies.

The corpus is made up: rules in four domains, with as many statements of the head as of the tail, all conclusions
negative sentences. Subjects answer over HTTP on loopback, with fixed seeds. A figure is wrong if the known accuracy is
outside its 99.9% interval (there are several), or not met exactly by a subject whose answers are all determined.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.running import CannotRun
from benchmarks.tables import table
from tests.assay.running import environment
from tests.support.probes import Manner, SimulatedSubject, always_no, coin, corpus_in, perfect, right_at, statements
from tests.support.stub_endpoint import StubEndpoint

_RULES, _EACH = 8, 10

_REACH = 1.68
"""Of the 99.9% interval, as a multiple of the printed one's."""

_SUBJECTS: Mapping[str, tuple[Manner, float, float]] = {
    "perfect": (perfect, 1.0, 1.0),
    "fair coin": (coin, 0.5, 0.5),
    "always no": (always_no, 7 / 13, 7 / 13),
    "tail weak by 10 points": (right_at({"head": 0.9, "tail": 0.8}), 0.9, 0.8),
    "tail weak by 3 points": (right_at({"head": 0.9, "tail": 0.87}), 0.9, 0.87),
}
"""The manner, and the accuracies on head and tail that it must come out at."""


def run() -> bool:
    """Ask and print; False if a subject does not come out at its accuracy."""
    rows, kept = [], True
    with tempfile.TemporaryDirectory(prefix="assay-probes-") as folder:
        corpus = corpus_in(Path(folder), _RULES, _EACH)
        for name, (manner, head, tail) in _SUBJECTS.items():
            figures = _figures(corpus, manner)
            cells = {(one["distribution"], one["polarity"]): one for one in figures["cells"] if one["domain"] == "all"}
            gap = next(one for one in figures["gaps"] if (one["domain"], one["polarity"]) == ("all", "all"))
            for side, known in (("head", head), ("tail", tail)):
                found = cells[side, "all"]
                exact = known in {1.0, 7 / 13}
                low, high = found["interval"]
                off = known - found["accuracy"]
                down, up = (_REACH * (end - found["accuracy"]) for end in (low, high))
                kept &= abs(off) < 1e-9 if exact else down <= off <= up
                rows.append(
                    [
                        name,
                        side,
                        *(_percent(cells[side, sign]["accuracy"]) for sign in ("positive", "negative", "all")),
                        f"{_percent(low)} to {_percent(high)}",
                        _percent(known),
                        f"{100 * gap['gap']:+.1f}" if side == "tail" else "",
                    ]
                )
    header = ["subject", "", "positive", "negative", "all", "95% interval", "known", "gap, points"]
    print(table(header, rows))
    print(f"\n{_RULES * _EACH} statements of each side, 13 probes each")
    return kept


def _figures(corpus: Path, manner: Manner) -> dict[str, Any]:
    with StubEndpoint(answer=SimulatedSubject(statements(_RULES, _EACH), manner, seed=5)) as endpoint:
        variables = {"ASSAY_SUBJECTS__SIMULATED__BASE_URL": endpoint.base_url, "ASSAY_SUBJECTS__SIMULATED__MODEL": "m"}
        ran = subprocess.run(
            [sys.executable, "-m", "assay", "probes", "run", str(corpus), "--json"],
            cwd=corpus.parent,
            env=environment() | variables,
            capture_output=True,
            check=False,
        )
    if ran.returncode:
        raise CannotRun(ran.stderr.decode())
    (figures,) = json.loads(ran.stdout)["runs"]
    found: dict[str, Any] = figures
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
