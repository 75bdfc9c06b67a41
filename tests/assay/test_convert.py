"""`assay convert`: tables and exports become records, and what does not is named."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import Table, parquet

from assay.exports import Export
from schemas import read_record
from streams.otlp.settings import OtlpSettings
from tests.assay.running import ROOT, assay
from tests.support.otlp import TRACE

SPAN, OTHER_SPAN = "b7ad6b7169203331", "b7ad6b7169203332"
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


def _converted(folder: Path, name: str, content: str | bytes, mapping: str, *more: str, status: int = 0) -> Any:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    if mapping not in {"langfuse", "phoenix"}:
        (folder / "mapping.toml").write_text(mapping, encoding="utf-8")
        mapping = "mapping.toml"
    ran = assay("convert", name, "--mapping", mapping, *more, cwd=folder)
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
    assert records == [
        {
            "kind": "generation",
            "source": "shop-chat",
            "model": "acme-chat-4",
            "id": "1",
            "prompt": "When?",
            "response": "At nine,\nsharp.",
            "contexts": ["Open from nine."],
            "occurred_at": "2026-11-20T08:00:00Z",
            "metadata": {"release": "1.10"},
        },
        {
            "kind": "generation",
            "source": "shop-chat",
            "model": "acme-chat-4",
            "id": "2",
            "response": "Yes.",
            "contexts": ["7", "[b"],
        },
    ]
    assert "2 records, 0 rows refused" in said


def test_the_example_can_be_converted(tmp_path: Path):
    ran = assay(
        "convert", "examples/answers.csv", "--mapping", "examples/mapping.toml", "--out", f"{tmp_path}/out", cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr
    lines = (tmp_path / "out").read_bytes().splitlines()
    assert [len(read_record(line, max_bytes=10**6).contexts) for line in lines] == [2, 1]


def test_rows_that_are_no_records_are_named_and_the_others_written(unconfigured: Path):
    table = "nr,answer,passage 1\n1,,a\n2,Yes.,a\n3,No.,a,more\n" + f"4,{'x' * 3000},a\n"
    (unconfigured / "assay.toml").write_text("[records]\nmax_bytes = 3100\n", encoding="utf-8")
    records, said = _converted(unconfigured, "answers.csv", table, MAPPING, status=3)
    assert [record["id"] for record in records] == ["2"]
    assert "row 1 was left out: invalid_record: generation.response: Field required" in said
    assert "row 3 was left out: invalid_record: the row has more cells than the header" in said
    assert "row 4 was left out: oversized" in said
    assert "1 records, 3 rows refused" in said


def test_cells_become_what_their_fields_take(unconfigured: Path):
    mapping = """
kind = "labelling"
[columns]
datapoint = "data"
label = "label"
[values]
source = "tickets"
model = "acme-chat-4"
rubric = "urgent"
"""
    table = 'data,label\n"{""n"": 7}",3\n7 apples,true\nplain,late\n'
    records, _ = _converted(unconfigured, "labels.csv", table, mapping)
    assert [(record["datapoint"], record["label"]) for record in records] == [
        ({"n": 7}, 3),
        ("7 apples", True),
        ("plain", "late"),
    ]


def test_json_lines_are_read_by_names_within_names(unconfigured: Path):
    mapping = """
kind = "retrieval"
[columns]
id = "nr"
query = "search.text"
matched = "hits.best"
[values]
source = "faq"
model = "m"
store = "cache"
"""
    best = {"id": "q1", "text": "When do you open?", "score": 0.9}
    lines = [{"nr": 7, "search": {"text": "opening hours"}, "hits": {"best": best}}, {"nr": 8}, [3]]
    content = "\n".join(map(json.dumps, lines)) + "\n\n{"
    records, said = _converted(unconfigured, "searches.jsonl", content, mapping, status=3)
    assert [(record["id"], record["query"], record["matched"]) for record in records] == [("7", "opening hours", best)]
    assert "row 2 was left out" in said
    assert "row 3 was left out: not_an_object" in said
    assert "row 4 was left out: not_json" in said
    paged, _ = _converted(unconfigured, "searches.json", json.dumps({"data": lines[:1]}, indent=1), mapping)
    assert paged == records


@pytest.mark.parametrize(
    ("name", "mapping", "said"),
    [
        ("a.csv", "[columns]\nrespons = 'x'\n", "has no field 'respons'; did you mean 'response'?"),
        ("a.csv", "[columns]\nzzz = 'x'\n", "allowed are id, occurred_at"),
        ("a.csv", "kind = 'song'\n[columns]\n", "kind: Input should be 'generation', 'paraphrase'"),
        ("a.csv", "columns", "a mapping is a TOML file, or `langfuse` or `phoenix`"),
        ("a.xlsx", MAPPING, "files that can be converted end in .csv, .jsonl, .ndjson, .json and .parquet"),
        ("a.json", MAPPING, "holds no JSON array of rows"),
    ],
)
def test_a_wrong_mapping_and_a_wrong_file_are_told(unconfigured: Path, name: str, mapping: str, said: str):
    _, error = _converted(unconfigured, name, "a,b\n1,2\n", mapping, status=2)
    assert said in error


def test_parquet_is_read_with_its_extra(unconfigured: Path, monkeypatch: pytest.MonkeyPatch):
    parquet.write_table(Table.from_pylist([{"nr": 1, "answer": "Yes."}]), unconfigured / "b.parquet")
    records, _ = _converted(unconfigured, "a.parquet", (unconfigured / "b.parquet").read_bytes(), MAPPING)
    assert [(record["id"], record["response"]) for record in records] == [("1", "Yes.")]
    _, error = _converted(unconfigured, "c.parquet", b"PAR1", MAPPING, status=2)
    assert "cannot be read as Parquet" in error
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    _, error = _converted(unconfigured, "a.parquet", b"PAR1", MAPPING, status=2)
    assert "pip install 'assay[parquet]'" in error


def _observation(kind: str, span: str, second: int, **more: Any) -> dict[str, Any]:
    return {
        "id": span,
        "trace_id": TRACE,
        "type": kind,
        "start_time": f"2026-11-20 08:00:{second:02}.000000",
        "end_time": f"2026-11-20 08:00:{second + 1:02}.500000",
        "trace_name": "shop-chat",
        "session_id": "s-1",
        "version": "",
    } | more


def test_langfuses_observations_become_records_with_what_was_retrieved(unconfigured: Path):
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When do you open?"}]
    call = {"provided_model_name": "acme-chat-4", "prompt_name": "greeter", "prompt_version": 4}
    rows = [
        _observation(
            "GENERATION", SPAN, 5, **call, input=json.dumps(said), output='{"role":"assistant","content":"Nine."}'
        ),
        _observation(
            "RETRIEVER", OTHER_SPAN, 1, input="hours", output='[{"pageContent":"From nine."}, "Not on Sundays."]'
        ),
        _observation("GENERATION", "0" * 15 + "3", 6, **call, input="When?", output=""),
        _observation("SPAN", "0" * 15 + "4", 0, input="When?", output="Nine."),
        {"type": "GENERATION", "id": "5"},
    ]
    content = "\n".join(map(json.dumps, rows))
    (record,), told = _converted(unconfigured, "export.jsonl", content, "langfuse", status=3)
    assert record["id"] == f"{TRACE}-{SPAN}"
    assert (record["source"], record["model"], record["session"]) == ("shop-chat", "acme-chat-4", "s-1")
    assert (record["prompt"], record["response"]) == ("When do you open?", "Nine.")
    assert record["contexts"] == ["From nine.", "Not on Sundays."]
    assert record["occurred_at"] == "2026-11-20T08:00:06.500000Z"
    assert record["metadata"] == {"gen_ai.prompt.name": "greeter", "gen_ai.prompt.version": 4}
    assert "1 records, 1 rows refused; left out: " in told
    assert {part.strip() for part in told.rpartition("left out: ")[2].splitlines()[0].split(",")} == {
        "1 context",
        "1 other",
        "1 no_content",
    }


def test_what_langfuses_api_answers_is_read_and_ids_of_its_own_are_kept(unconfigured: Path):
    row = {
        "id": "5b6f3c1e-7a55-4c5e-9a60-0c2f8f6f4a11",
        "traceId": "trace-of-mine",
        "type": "GENERATION",
        "startTime": "2026-11-20T08:00:00.000Z",
        "endTime": None,
        "model": "acme-chat-4",
        "input": {"messages": [{"role": "user", "content": "When?"}]},
        "output": "At nine.",
    }
    (record,), _ = _converted(
        unconfigured, "export.json", json.dumps({"data": [row]}), "langfuse", "--source", "shop-chat"
    )
    assert record["id"] == "trace-of-mine-5b6f3c1e-7a55-4c5e-9a60-0c2f8f6f4a11"
    assert record["trace"] is None
    assert (record["source"], record["prompt"], record["response"]) == ("shop-chat", "When?", "At nine.")


def test_phoenixs_spans_become_records_from_its_api_and_from_its_data_frame(unconfigured: Path):
    documents = {
        f"retrieval.documents.{at}.document.content": text for at, text in enumerate(["From nine.", "Sundays off."])
    }
    spans = [
        {
            "name": "ChatOpenAI",
            "context": {"trace_id": TRACE, "span_id": SPAN},
            "span_kind": "LLM",
            "start_time": "2026-11-20T08:00:05+00:00",
            "end_time": "2026-11-20T08:00:06+00:00",
            "attributes": {
                "llm.model_name": "acme-chat-4",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": "When do you open?",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "Nine.",
            },
        },
        {
            "name": "Retriever",
            "context": {"trace_id": TRACE, "span_id": OTHER_SPAN},
            "span_kind": "RETRIEVER",
            "start_time": "2026-11-20T08:00:01+00:00",
            "end_time": "2026-11-20T08:00:02+00:00",
            "attributes": {"input.value": "hours", **documents},
        },
    ]
    rows = [
        {
            "context.trace_id": TRACE,
            "context.span_id": SPAN,
            "span_kind": "LLM",
            "start_time": 1795161605000,
            "end_time": 1795161606000,
            "attributes.llm.model_name": "acme-chat-4",
            "attributes.llm.input_messages": [{"message.role": "user", "message.content": "When do you open?"}],
            "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "Nine."}],
        },
        {
            "context.trace_id": TRACE,
            "context.span_id": OTHER_SPAN,
            "span_kind": "RETRIEVER",
            "start_time": 1795161601000,
            "end_time": 1795161602000,
            "attributes.input.value": "hours",
            "attributes.retrieval.documents": [
                {"document.content": "From nine."},
                {"document.content": "Sundays off."},
            ],
        },
    ]
    by_api, _ = _converted(unconfigured, "spans.json", json.dumps({"data": spans}), "phoenix", "--source", "shop-chat")
    by_frame, _ = _converted(
        unconfigured, "spans.jsonl", "\n".join(map(json.dumps, rows)), "phoenix", "--source", "shop-chat"
    )
    assert by_api == by_frame
    (record,) = by_api
    assert record["id"] == f"{TRACE}-{SPAN}"
    assert record["trace"] == {"trace_id": TRACE, "span_id": SPAN, "response_id": None, "probability": None}
    assert (record["source"], record["model"]) == ("shop-chat", "acme-chat-4")
    assert record["contexts"] == ["From nine.", "Sundays off."]
    assert record["occurred_at"] == "2026-11-20T08:00:06Z"


def test_an_export_keeps_what_was_retrieved_however_long_it_takes_to_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("streams.otlp.records._KEPT_SECONDS", 0.0)
    export = Export("langfuse", OtlpSettings(), source=None, max_bytes=10**6)
    export.add(_observation("RETRIEVER", OTHER_SPAN, 1, input="hours", output="From nine."))
    export.add(_observation("GENERATION", SPAN, 5, input="When?", output="Nine."))
    (record,) = export.made().records
    assert getattr(record, "contexts", None) == ("From nine.",)
