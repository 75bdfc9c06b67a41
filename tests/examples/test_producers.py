"""The producers of docs/producers.md send what assay reads; those in other languages run in tests/system."""

import sys
from pathlib import Path

import pytest

from tests.examples.sending import PRODUCERS, sent_record
from tests.support.scenarios import Place


@pytest.mark.parametrize(
    ("program", "keyed_by"), [("confluent_producer.py", "session"), ("aiokafka_producer.py", "id")]
)
def test_a_python_producer_sends_a_record(prepared: Place, program: str, keyed_by: str, tmp_path: Path):
    record, key = sent_record(prepared, [sys.executable, PRODUCERS / program])
    assert key == getattr(record, keyed_by)
