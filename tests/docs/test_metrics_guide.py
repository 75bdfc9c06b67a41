"""The documents name every metric that a worker exposes, and no other."""

import re
from pathlib import Path

from tests.deploy.metric_names import labels_by_series

DOCS = Path(__file__).parent.parent.parent / "docs"
TEXT = "\n".join(path.read_text("utf-8") for path in sorted(DOCS.glob("*.md")))

# A histogram is named without what Prometheus appends for its parts.
EXPOSED = {
    re.sub(r"_(bucket|sum|count)$", "", name): labels - ({"le"} if name.endswith("_bucket") else set())
    for name, labels in labels_by_series().items()
}


def test_every_metric_is_documented():
    assert [name for name in EXPOSED if f"`{name}" not in TEXT] == []


def test_every_metric_that_is_documented_exists_with_its_labels():
    # Recorded series such as `subject:assay_success:ratio_rate1h` are Prometheus' own, and tested with its rules.
    named = re.findall(r"`(assay_\w+)(?:\{([\w,]*)\})?`", TEXT)
    assert [name for name, _ in named if name not in EXPOSED] == []
    assert [(name, labels) for name, labels in named if labels and set(labels.split(",")) != EXPOSED[name]] == []
