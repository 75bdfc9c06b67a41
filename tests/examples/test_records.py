"""The example records: readable, of every kind, right and wrong ones."""

from pathlib import Path

from schemas import OUTCOMES, Generation, read_record

LINES = (Path(__file__).parents[2] / "examples" / "records.jsonl").read_bytes().splitlines()
RECORDS = [read_record(line, max_bytes=2**20) for line in LINES]
GENERATIONS = [record for record in RECORDS if isinstance(record, Generation)]


def test_every_record_says_what_is_expected_and_what_is_faulty():
    for record in RECORDS:
        assert record.metadata["expected"] in OUTCOMES
        assert (record.metadata["fault"] == "none") == (record.metadata["expected"] == "accept"), record.id


def test_generations_cover_every_task_and_everything_to_hold_them_against():
    assert {record.effective_task for record in GENERATIONS} == {"summary", "answer", "paraphrase"}
    assert any(record.reference for record in GENERATIONS)
    assert any(record.contexts for record in GENERATIONS)
    assert any(record.samples and not record.reference and not record.contexts for record in GENERATIONS)
