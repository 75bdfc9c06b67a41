"""Every query of the dashboards, put to a real Prometheus that scrapes every series that a worker exposes."""

import itertools
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

from tests.deploy.expressions import LABELS_BY_LEVEL
from tests.deploy.metric_names import labels_by_series
from tests.system.monitoring import DEPLOY, exporting, running_prometheus

BEGUN = time.monotonic()
VALUES = {
    "checker": ["consistency"],
    "agent": ["consistency", "trust-monitor"],
    "source": ["app"],
    "model": ["good", "weak"],
    "outcome": ["accept", "reject", "abstain", "delivered", "accepted", "answered"],
    "name": ["consistency"],
    "unit": ["calls", "cost"],
    "judge": ["first", "second"],
    "polarity": ["all", "negative"],
    "reason": ["sample", "checker_failed"],
    "le": ["1", "+Inf"],
}
"""The values of labels for which it matters, or there are several."""


SERIES = labels_by_series()


def metrics() -> str:
    """Every series: counters that grow, a backlog that shrinks, budgets half spent."""
    seconds = time.monotonic() - BEGUN
    lines = [f"process_start_time_seconds {time.time() - seconds}"]
    for name, labels in SERIES.items():
        value = 0.5
        if re.search(r"_(total|bucket|sum|count)$", name):
            value = 100 * seconds
        elif "timestamp" in name:
            value = time.time()
        elif "lag" in name:
            value = 10_000 - 10 * seconds
        elif name.startswith("assay_budget_limit"):
            value = 1
        for chosen in itertools.product(*(VALUES.get(label, [f"some-{label}"]) for label in sorted(labels))):
            pairs = ",".join(f'{label}="{each}"' for label, each in zip(sorted(labels), chosen, strict=True))
            lines.append(f"{name}{{{pairs}}} {value}")
    return "\n".join(lines) + "\n"


def queries() -> Iterator[tuple[str, str]]:
    """Each panel's title and expression, variables replaced as Grafana does where all is chosen."""
    for file in sorted((DEPLOY / "grafana" / "dashboards").glob("*.json")):
        for panel in json.loads(file.read_text("utf-8"))["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"].replace("$__rate_interval", "1m")
                yield f"{file.stem}: {panel['title']}", re.sub(r"\$\w+", ".*", expression)


def test_every_panel_shows_something_and_every_recorded_series_has_the_labels_of_its_level(tmp_path: Path):
    with exporting(metrics) as target, running_prometheus(tmp_path, [target]) as prometheus:
        for title, expression in queries():
            assert prometheus.wait_for(expression), title
        levels = {}
        for labels, _ in prometheus.query('{__name__=~".+:.+:.+"}'):
            levels.setdefault(labels.pop("__name__").split(":")[0], set()).add(frozenset(labels))
        assert levels == {level: {frozenset(labels)} for level, labels in LABELS_BY_LEVEL.items()}
