"""The example records: readable, of every kind, right and wrong ones."""

import json
from collections import Counter
from pathlib import Path

import pytest

from schemas import OUTCOMES, RECORD_KINDS, Generation, read_record

LINES = (Path(__file__).parents[2] / "examples" / "records.jsonl").read_bytes().splitlines()
RECORDS = [read_record(line, max_bytes=2**20) for line in LINES]
GENERATIONS = [record for record in RECORDS if isinstance(record, Generation)]


def test_there_are_enough_to_see_something():
    assert len(RECORDS) >= 40


def test_every_record_brings_its_own_id():
    assert len({record.id for record in RECORDS}) == len(RECORDS)
    assert all(json.loads(line)["id"] == record.id for line, record in zip(LINES, RECORDS, strict=True))


def test_every_kind_has_right_and_wrong_ones():
    expected = Counter((record.model_dump()["kind"], record.metadata["expected"]) for record in RECORDS)
    assert all(expected[kind, outcome] for kind in RECORD_KINDS for outcome in ("accept", "reject"))


def test_half_of_the_generations_are_faulty():
    faulty = [record for record in GENERATIONS if record.metadata["expected"] == "reject"]
    assert len(faulty) >= 10
    assert 0.4 <= len(faulty) / len(GENERATIONS) <= 0.6


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_every_record_says_what_is_expected_and_what_is_faulty(record):
    assert record.metadata["expected"] in OUTCOMES
    assert (record.metadata["fault"] == "none") == (record.metadata["expected"] == "accept")


def test_generations_cover_every_task_and_everything_to_hold_them_against():
    assert {record.effective_task for record in GENERATIONS} == {"summary", "answer", "paraphrase"}
    assert any(record.reference for record in GENERATIONS)
    assert any(record.contexts for record in GENERATIONS)
    assert any(record.samples and not record.reference and not record.contexts for record in GENERATIONS)


def test_only_a_generation_with_nothing_to_hold_it_against_is_abstained_on():
    without = {record.id for record in GENERATIONS if not (record.reference or record.contexts or record.samples)}
    assert without
    assert without == {record.id for record in RECORDS if record.metadata["expected"] == "abstain"}


def test_they_come_from_several_sources_and_models():
    assert len({record.source for record in RECORDS}) >= 5
    assert len({record.model for record in RECORDS}) >= 3
