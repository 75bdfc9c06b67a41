"""The extractor that plays the samples' subject in the demo: what the checker says of it."""

import json
from pathlib import Path

import pytest

from assay.testing import check
from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.extractors import CallableSubject, stand_ins
from tests.checkers.extraction.setting import ENTITIES, TEXT, classed, places

SAMPLES = Path(__file__).parents[3] / "examples" / "records.jsonl"
RECORDS = {
    record["id"]: record
    for record in map(json.loads, SAMPLES.read_text("utf-8").splitlines())
    if record["kind"] == "extraction"
}


@pytest.mark.parametrize("name", ["ext-01", "ext-02", "ext-03"])
def test_the_samples_get_the_verdicts_that_their_authors_expect(name: str):
    record = RECORDS[name]
    verdict = check(ExtractionChecker, record, subjects=stand_ins())
    assert verdict.outcome == record["metadata"]["expected"], verdict.reason


def test_an_async_callable_is_a_subject_too():
    async def extract(text: str) -> list[dict[str, str]]:
        return classed(places)(text)  # type: ignore[return-value]

    record = {"text": TEXT, "entities": ENTITIES, "model": "mine"}
    assert check(ExtractionChecker, record, subjects={"mine": CallableSubject("mine", extract)}).outcome == "accept"
