"""`assay convert`: tables become records, and what does not is named."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import Table, parquet

from schemas import read_record
from tests.assay.running import assay

MAPPING = """
[columns]
id = "nr"
response = "answer"
prompt = "question"
contexts = ["passage 1", "passage 2"]
occurred_at = "asked"
"metadata.release" = "version"
[values]
source = "shop-chat"
model = "acme-chat-4"
"""


def _converted(folder: Path, name: str, content: str | bytes, mapping: str, *, status: int = 0) -> Any:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "mapping.toml").write_text(mapping, encoding="utf-8")
    ran = assay("convert", name, "--mapping", "mapping.toml", cwd=folder)
    assert ran.returncode == status, ran.stderr
    assert "Traceback" not in ran.stderr
    for line in ran.stdout.splitlines():
        read_record(line.encode(), max_bytes=10**6)
    return [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr


def test_a_table_becomes_records_by_a_mapping_of_its_columns(unconfigured: Path):
    table = (
        "\ufeffnr,question,answer,passage 1,passage 2,asked,version\r\n"
        '1,When?,"At nine,\nsharp.",Open from nine.,,2026-11-20T08:00:00Z,1.10\r\n'
        "2,,Yes.,7,[b,,\r\n"
    )
    records, said = _converted(unconfigured, "answers.csv", table, MAPPING)
    shared = {"kind": "generation", "source": "shop-chat", "model": "acme-chat-4"}
    first = {"id": "1", "prompt": "When?", "response": "At nine,\nsharp.", "contexts": ["Open from nine."]}
    first |= {"occurred_at": "2026-11-20T08:00:00Z", "metadata": {"release": "1.10"}}
    assert records == [shared | first, shared | {"id": "2", "response": "Yes.", "contexts": ["7", "[b"]}]
    assert "2 records, 0 rows refused" in said


def test_rows_that_are_no_records_are_named_and_the_others_written(unconfigured: Path):
    table = "nr,answer,passage 1\n1,,a\n2,Yes.,a\n3,No.,a,more\n" + f"4,{'x' * 3000},a\n"
    (unconfigured / "assay.toml").write_text("[records]\nmax_bytes = 3100\n", encoding="utf-8")
    records, said = _converted(unconfigured, "answers.csv", table, MAPPING, status=3)
    assert [record["id"] for record in records] == ["2"]
    assert "row 1 was skipped: invalid_record: generation.response: Field required" in said
    assert "row 3 was skipped: invalid_record: the row has more cells than the header" in said
    assert "row 4 was skipped: oversized" in said
    assert "1 records, 3 rows refused" in said
    _, said = _converted(unconfigured, "twice.csv", "nr,answer,answer,,\n1,a,b,,\n", MAPPING, status=2)
    assert "the header has 'answer' more than once" in said


LABELS = """
kind = "labelling"
columns = {datapoint = "data", label = "label"}
values = {source = "tickets", model = "acme-chat-4", rubric = "urgent"}
"""
CALLS = """
kind = "tool_call"
columns = {name = "tool", arguments = "args"}
values = {source = "agent", model = "m", tools = [{name = "hours"}]}
"""
SEARCHES = """
kind = "retrieval"
columns = {id = "nr", query = "search.text", matched = "hits.best"}
values = {source = "faq", model = "m", store = "cache"}
"""


@pytest.mark.parametrize(
    ("mapping", "table", "fields", "taken"),
    [
        (
            LABELS,
            'data,label\n"{""n"": 7}",3\n7 apples,true\nplain,late\n',
            ("datapoint", "label"),
            [({"n": 7}, 3), ("7 apples", True), ("plain", "late")],
        ),
        # Arguments are JSON, or should be.
        (
            CALLS,
            'tool,args\nhours,"{""day"": ""Monday""}"\nhours,"{""day"": ""Mo"\n',
            ("name", "arguments"),
            [("hours", {"day": "Monday"}), ("hours", '{"day": "Mo')],
        ),
    ],
    ids=["labels", "calls of tools"],
)
def test_cells_become_what_their_fields_take(unconfigured: Path, mapping: str, table: str, fields: Any, taken: Any):
    records, _ = _converted(unconfigured, "cells.csv", table, mapping)
    assert [tuple(record[field] for field in fields) for record in records] == taken


def test_json_lines_are_read_by_names_within_names(unconfigured: Path):
    best = {"id": "q1", "text": "When do you open?", "score": 0.9}
    lines = [{"nr": 7, "search": {"text": "opening hours"}, "hits": {"best": best}}, {"nr": 8}, [3]]
    content = "\n".join(map(json.dumps, lines)) + "\n\n{"
    records, said = _converted(unconfigured, "searches.jsonl", content, SEARCHES, status=3)
    assert [(record["id"], record["query"], record["matched"]) for record in records] == [("7", "opening hours", best)]
    for row in ("row 2 was skipped", "row 3 was skipped: not_an_object", "row 4 was skipped: not_json"):
        assert row in said
    whole, _ = _converted(unconfigured, "searches.json", json.dumps(lines[:1], indent=1), SEARCHES)
    assert whole == records
    _, said = _converted(unconfigured, "one.json", json.dumps({"data": lines}), SEARCHES, status=2)
    assert said == "Error: one.json holds no JSON array of rows\n"


def test_parquet_is_read_with_its_extra(unconfigured: Path, monkeypatch: pytest.MonkeyPatch):
    parquet.write_table(Table.from_pylist([{"nr": 1, "answer": "Yes."}]), unconfigured / "b.parquet")
    records, _ = _converted(unconfigured, "a.parquet", (unconfigured / "b.parquet").read_bytes(), MAPPING)
    assert [(record["id"], record["response"]) for record in records] == [("1", "Yes.")]
    _, error = _converted(unconfigured, "c.parquet", b"PAR1", MAPPING, status=2)
    assert "cannot be read as Parquet" in error
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    _, error = _converted(unconfigured, "a.parquet", b"PAR1", MAPPING, status=2)
    assert "pip install 'assay[parquet]'" in error
