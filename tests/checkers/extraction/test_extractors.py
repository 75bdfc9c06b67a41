"""The extractor that plays the samples' subject in the demo: what it finds, and what the checker says of it."""

import json
from pathlib import Path

import pytest

from assay.testing import check
from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.extractors import capitalised, stand_ins

SAMPLES = Path(__file__).parents[3] / "examples" / "records.jsonl"
RECORDS = {
    record["id"]: record
    for record in map(json.loads, SAMPLES.read_text("utf-8").splitlines())
    if record["kind"] == "extraction"
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In Porto, Ada Okafor met O'Neil-Smith.", ["Porto", "Ada Okafor", "O'Neil-Smith"]),
        ("Porto is a town.", ["Porto"]),
        ("nobody was there", []),
        ("Zoe met Ida, Una and Bo.", ["Ida", "Una", "Bo"]),
    ],
)
def test_it_lists_the_first_three_names_by_the_alphabet(text: str, found: list[str]):
    assert capitalised(text) == found


@pytest.mark.parametrize("name", ["ext-01", "ext-02", "ext-03"])
def test_the_samples_get_the_verdicts_that_their_authors_expect(name: str):
    record = RECORDS[name]
    verdict = check(ExtractionChecker, record, subjects=stand_ins())
    assert verdict.outcome == record["metadata"]["expected"], verdict.reason
