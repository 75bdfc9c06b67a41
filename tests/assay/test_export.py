"""`assay export rejected`: what was rejected, once each, as lines that others can train on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.export import prompt_of
from schemas import Generation, read_record, to_json
from tests.assay.running import assay, servers
from tests.support.rejections import improvement, rejection
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put, record


def test_verdicts_stand_beside_their_records_each_once(tmp_path: Path, embedded_place: Place):
    topics = embedded_place.checked().topics
    records = [record(number, prompt=f"Prompt {number}?", extra=1.5) for number in range(3)]
    verdicts = [rejection(number, topics.outputs) for number in (0, 1, 2, 40, 41)]
    # The same verdict once more, as after a crash, and what is no verdict.
    repeats = [to_json(verdicts[0]), b"{", None, b"{}"]
    _put(embedded_place, topics.outputs, records)
    _put(embedded_place, topics.rejected, [*map(to_json, verdicts), *repeats])

    ran = assay("export", "rejected", cwd=tmp_path, **servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["verdict"] for line in lines] == [json.loads(to_json(verdict)) for verdict in verdicts]
    assert [line["record"] for line in lines] == [*map(json.loads, records), None, None]
    assert f"5 lines written\n5 verdicts on {topics.rejected}\n" in ran.stderr
    assert "2 whose record is no longer on its topic: tests/r40, tests/r41" in ran.stderr
    assert "3 messages there could not be read as verdicts" in ran.stderr


def test_where_there_is_a_store_it_is_read_and_the_records_that_it_keeps(
    tmp_path: Path, embedded_place: Place, sqlite_store: Stored
):
    topics = embedded_place.checked().topics
    verdicts = [rejection(number, topics.outputs) for number in range(3)]
    _put(embedded_place, topics.outputs, [record(0, prompt="When?")])
    kept = read_record(record(1, prompt="Who?"), max_bytes=9999)
    better = [improvement(number, topics.outputs) for number in range(3)]
    sqlite_store.keep([*verdicts, rejection(4, topics.outputs, outcome="accept"), kept, *better])
    variables = servers(embedded_place) | {"ASSAY_STORE__URL": sqlite_store.url}

    ran = assay("export", "rejected", cwd=tmp_path, **variables)
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["verdict"] for line in lines] == [json.loads(to_json(verdict)) for verdict in verdicts]
    assert [line["record"] and line["record"]["prompt"] for line in lines] == ["When?", "Who?", None]
    assert "3 lines written\n3 verdicts in the store\n" in ran.stderr
    variables["ASSAY_KAFKA__BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
    ran = assay("export", "rejected", cwd=tmp_path, **variables)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (ran.returncode, len(lines), lines[1]["record"]["prompt"]) == (0, 3, "Who?")
    assert "2 whose record the store does not hold, and no broker answers: tests/r0, tests/r2" in ran.stderr
    variables |= servers(embedded_place)
    ran = assay("export", "rejected", "--format", "preferences", cwd=tmp_path, **variables)
    chosen = [json.loads(line)["chosen"][0]["content"] for line in ran.stdout.splitlines()]
    assert chosen == ["Better response 0.", "Better response 1."]


@pytest.mark.parametrize("form", ["corrections", "preferences"])
def test_improvements_become_examples_to_train_on(tmp_path: Path, embedded_place: Place, form: str):
    topics = embedded_place.checked().topics
    records = [
        record(0, prompt="When does it arrive?", contexts=["It arrives on Monday."]),
        record(1, reference="A long article."),
        record(2),
        record(3, prompt="Who?"),
        b'{"id":"r4","kind":"extraction","source":"tests","model":"m","text":"t","entities":[],"prompt":"Find them."}',
    ]
    improvements = [
        *(improvement(number, topics.outputs) for number in (0, 1, 2, 4, 50)),
        improvement(3, topics.outputs, status="not_improved"),
        improvement(3, topics.outputs, id="imp-empty", after=""),
    ]
    _put(embedded_place, topics.outputs, records)
    _put(embedded_place, topics.improved, [*map(to_json, improvements), to_json(improvements[0]), b"{}"])

    out = tmp_path / "examples.jsonl"
    ran = assay("export", "rejected", "--format", form, "--out", out, cwd=tmp_path, **servers(embedded_place))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""
    asked = [
        [{"role": "user", "content": "When does it arrive?\n\nIt arrives on Monday."}],
        [{"role": "user", "content": "Summarise this text.\n\nA long article."}],
    ]
    better = [[{"role": "assistant", "content": f"Better response {number}."}] for number in range(2)]
    worse = [[{"role": "assistant", "content": f"Response {number}."}] for number in range(2)]
    expected: list[dict[str, Any]] = (
        [{"messages": asked[number] + better[number]} for number in range(2)]
        if form == "corrections"
        else [{"prompt": asked[n], "chosen": better[n], "rejected": worse[n]} for n in range(2)]
    )
    assert [json.loads(line) for line in out.read_text().splitlines()] == expected
    assert f"2 lines written\n7 improvements on {topics.improved}\n" in ran.stderr
    assert "2 skipped: the response could not be improved" in ran.stderr
    assert "2 skipped: the record holds no prompt: tests/r2, tests/r4" in ran.stderr
    assert "1 whose record is no longer on its topic: tests/r50" in ran.stderr


@pytest.mark.parametrize(
    ("told", "prompt"),
    [
        ({"prompt": "Why?", "contexts": ["A.", "B."]}, "Why?\n\nA.\n\nB."),
        # What the prompt quotes already is not repeated.
        ({"prompt": "From: A.\nWhy?", "contexts": ["A.", "B."]}, "From: A.\nWhy?\n\nB."),
        # It may be the true answer, and would give it away.
        ({"prompt": "Why?", "reference": "Because."}, "Why?"),
        ({"reference": "Long."}, "Summarise this text.\n\nLong."),
        ({}, None),
    ],
)
def test_a_prompt_is_the_records_own_or_made_from_its_task_and_texts(told: dict[str, Any], prompt: str | None):
    assert prompt_of(Generation(kind="generation", source="s", model="m", response="r", **told)) == prompt


def _put(place: Place, topic: str, values: Any) -> None:
    asyncio.run(put(place.servers, topic, values))
