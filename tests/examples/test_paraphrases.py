"""The example decisions that say yes, decided with what the package brings."""

from pathlib import Path

from checkers.checker import Models
from checkers.equivalence.checker import EquivalenceChecker, EquivalenceSettings
from models.build import build_judge
from models.local_settings import LocalSettings
from models.settings import JudgeSettings
from schemas import Paraphrase, read_record

LINES = (Path(__file__).parents[2] / "examples" / "records.jsonl").read_bytes().splitlines()
DECISIONS = [
    record
    for record in (read_record(line, max_bytes=2**20) for line in LINES)
    if isinstance(record, Paraphrase) and record.answer
]


async def test_each_is_decided_as_its_line_says() -> None:
    judge = build_judge(JudgeSettings(backend="local", local=LocalSettings()))
    checker = EquivalenceChecker(EquivalenceSettings(), Models(judge=judge, subjects={}))
    verdicts = [await checker.check(record) for record in DECISIONS]
    await checker.close()
    await judge.close()
    assert len(verdicts) >= 4
    assert [verdict.outcome for verdict in verdicts] == [record.metadata["expected"] for record in DECISIONS]
