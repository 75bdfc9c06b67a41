"""The examples for OpenTelemetry fit what assay reads."""

from pathlib import Path

import yaml

from streams.otlp.names import GENERATIONS

EXAMPLES = Path(__file__).parents[2] / "examples" / "opentelemetry"


def test_the_collector_keeps_what_is_read_and_writes_to_the_topics_that_are_named():
    collector = yaml.safe_load((EXAMPLES / "collector.yaml").read_text("utf-8"))
    (dropped,) = collector["processors"]["filter"]["traces"]["span"]
    assert all(f'attributes["{name}"] == nil' in dropped for name in GENERATIONS)
    exporter = collector["exporters"]["kafka"]
    guide = (EXAMPLES.parents[1] / "docs" / "opentelemetry.md").read_text("utf-8")
    assert f'topics = {{spans = "{exporter["traces"]["topic"]}", logs = "{exporter["logs"]["topic"]}"}}' in guide
