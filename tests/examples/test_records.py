"""The example records: readable, of every kind, right and wrong ones."""

from pathlib import Path

from schemas import OUTCOMES, read_record

LINES = (Path(__file__).parents[2] / "examples" / "records.jsonl").read_bytes().splitlines()
RECORDS = [read_record(line, max_bytes=2**20) for line in LINES]


def test_every_record_says_what_is_expected_and_what_is_faulty():
    for record in RECORDS:
        assert record.metadata["expected"] in OUTCOMES
        assert (record.metadata["fault"] == "none") == (record.metadata["expected"] == "accept"), record.id
