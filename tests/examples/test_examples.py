"""The examples: records of right and wrong outputs, decisions, and what OpenTelemetry's collector is told."""

from pathlib import Path

import yaml

from checkers.checker import Models
from checkers.equivalence.checker import EquivalenceChecker, EquivalenceSettings
from models.build import build_judge
from models.settings import JudgeSettings, LocalSettings
from schemas import OUTCOMES, Paraphrase, read_record
from streams.otlp.names import GENERATIONS

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "examples" / "records.jsonl").read_bytes().splitlines()
RECORDS = [read_record(line, max_bytes=2**20) for line in LINES]


def test_every_record_says_what_is_expected_and_what_is_faulty():
    for record in RECORDS:
        assert record.metadata["expected"] in OUTCOMES
        assert (record.metadata["fault"] == "none") == (record.metadata["expected"] == "accept"), record.id


async def test_each_decision_that_says_yes_is_decided_as_its_line_says() -> None:
    decisions = [record for record in RECORDS if isinstance(record, Paraphrase) and record.answer]
    judge = build_judge(JudgeSettings(backend="local", local=LocalSettings()))
    checker = EquivalenceChecker(EquivalenceSettings(), Models(judge=judge, subjects={}))
    verdicts = [await checker.check(record) for record in decisions]
    await checker.close()
    await judge.close()
    assert len(verdicts) >= 4
    assert [verdict.outcome for verdict in verdicts] == [record.metadata["expected"] for record in decisions]


def test_the_collector_keeps_what_is_read_and_writes_to_the_topics_that_are_named():
    collector = yaml.safe_load((ROOT / "examples" / "opentelemetry" / "collector.yaml").read_text("utf-8"))
    (dropped,) = collector["processors"]["filter"]["traces"]["span"]
    assert all(f'attributes["{name}"] == nil' in dropped for name in GENERATIONS)
    exporter = collector["exporters"]["kafka"]
    guide = (ROOT / "docs" / "opentelemetry.md").read_text("utf-8")
    assert f'topics = {{spans = "{exporter["traces"]["topic"]}", logs = "{exporter["logs"]["topic"]}"}}' in guide
