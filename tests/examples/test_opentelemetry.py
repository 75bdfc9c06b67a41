"""The examples for OpenTelemetry fit what assay reads."""

import ast
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("program", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_the_applications_are_python(program: Path):
    ast.parse(program.read_text("utf-8"))
