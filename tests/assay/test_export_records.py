"""`assay export records`: people's labels become data sets that others take; `assay failures`: what rejects share."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from checkers.criteria.checker import Example
from checkers.lines import read_forms
from schemas import Label, Verdict, read_record
from store.writing import Message
from tests.assay.running import assay
from tests.assay.test_calibrate import folder as judged_folder
from tests.assay.test_calibrate import record
from tests.support.labels import REQUEST
from tests.support.rejections import DAY, rejection
from tests.support.stored import Stored

folder = judged_folder
"""A folder with a configuration whose judge is as sure as a response says."""

ACCEPTED, BROKEN, RARE = 60, 40, 8


def _kept(number: int) -> tuple[dict[str, Any], Verdict, str]:
    """A record, its verdict, and what people say: accepts, then a release that breaks, then a rare fault of before."""
    group = "accept" if number < ACCEPTED else "broken" if number < ACCEPTED + BROKEN else "rare"
    support = {"accept": 0.9, "broken": 0.1, "rare": 0.2}[group]
    made = record(number, support, metadata={"release": "4.2" if group == "broken" else "4.1"})
    reason = "The figures of an order were mixed up." if group == "broken" else "“We are closed.” is not said anywhere."
    verdict = rejection(
        number,
        "t",
        record_id=made["id"],
        source="s",
        outcome="accept" if group == "accept" else "reject",
        score=support,
        reason=reason,
        attributes={"metadata.release": (made["metadata"]["release"],)},
        checked_at=DAY + timedelta(seconds=number),
    )
    return made, verdict, "good" if group == "accept" else "bad"


@pytest.fixture
def labelled(tmp_path: Path) -> Iterator[Stored]:
    """A store with records, verdicts, requests to people and their labels."""
    stored, messages = Stored(f"sqlite:///{tmp_path / 'verdicts.db'}"), list[Message]()
    for number in range(ACCEPTED + BROKEN + RARE):
        made, verdict, said = _kept(number)
        data = json.dumps(made).encode()
        about = {"verdict_id": verdict.id, "source": "s", "model": "m"}
        asked = {"id": f"req-{number}", "outcome": verdict.outcome, "stratum": verdict.outcome}
        asked["inclusion_probability"] = 0.25 if verdict.outcome == "accept" else 0.5
        request = REQUEST.model_copy(update=about | asked | {"record_id": verdict.record_id, "checker": "consistency"})
        span = f"Report {number}" if said == "bad" else None
        label = Label(**about, annotator="ada", label=said, labelled_at=DAY, span=span)
        messages += [read_record(data, max_bytes=len(data)), verdict, request, label]
    stored.keep(messages)
    yield stored
    stored.close()


def _export(folder: Path, store: Stored, *options: str) -> tuple[list[dict[str, Any]], list[str]]:
    ran = assay("export", "records", *options, cwd=folder, ASSAY_STORE__URL=store.url, **NO_BROKER)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr.splitlines()


NO_BROKER = {"ASSAY_KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:1"}


def _group(line: dict[str, Any]) -> str:
    number = int(line["id"].removeprefix("r-"))
    return "accept" if number < ACCEPTED else "broken" if number < ACCEPTED + BROKEN else "rare"


def test_it_is_drawn_evenly_over_what_rejects_have_in_common(tmp_path: Path, labelled: Stored):
    lines, said = _export(tmp_path, labelled, "--labelled", "--distinct", "--by", "failure", "--limit", "18")
    assert Counter(map(_group, lines)) == {"accept": 6, "broken": 6, "rare": 6}
    assert said == [
        "18 records from the store",
        "  6 of 60 verdicts: accepted",
        "  6 of 40 verdicts: metadata.release 4.2",
        "  6 of 8 verdicts: “We are closed.” is not said anywhere.",
    ]
    assert all(line["label"] == ("accept" if _group(line) == "accept" else "reject") for line in lines)
    assert all(line["words"] in line["response"] for line in lines if line["label"] == "reject")
    again, _ = _export(tmp_path, labelled, "--labelled", "--distinct", "--by", "failure", "--limit", "18")
    assert again == lines
    # Of what was drawn more often the less is used where an even sample is needed.
    probability = {_group(line): line["assay_drawn"][0] for line in lines}
    assert probability == {"accept": 0.25 * 6 / 60, "broken": 0.5 * 6 / 40, "rare": 0.5 * 6 / 8}
    assert all(line["assay_drawn"][1] for line in lines if _group(line) == "accept")
    assert not all(line["assay_drawn"][1] for line in lines if _group(line) == "rare")


def test_calibrate_a_criterion_and_ci_take_it(folder: Path, labelled: Stored):
    out = folder / "set.jsonl"
    assert _export(folder, labelled, "--labelled", "--distinct", "--by", "failure", "--out", str(out))[0] == []
    ran = assay("calibrate", str(out), "--error", "0.3", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert "108 labelled records" in ran.stdout
    assert "agrees with your people on 108 of 108" in ran.stdout

    ran = assay("check", str(out), "--checker", "consistency", "--json", "--fail-under", "0.7", cwd=folder)
    assert (ran.returncode, len(ran.stdout.splitlines())) == (1, 108), ran.stderr

    examples = list(read_forms(Example, out, "example"))
    assert Counter(one.label for one in examples) == {"accept": ACCEPTED, "reject": BROKEN + RARE}
    assert all(one.words for one in examples if one.label == "reject")


def test_a_selection_a_missing_record_and_a_missing_store_are_told(tmp_path: Path, labelled: Stored):
    lines, _ = _export(tmp_path, labelled, "--labelled", "--since", "2026-11-16T08:01")
    assert {_group(line) for line in lines} == {"broken", "rare"}
    assert _export(tmp_path, labelled, "--labelled", "--source", "other")[1] == ["0 records from the store"]
    labelled.keep([rejection(500, "t", source="s", record_id="gone")])
    lines, said = _export(tmp_path, labelled, "--limit", "500")
    assert len(lines) == ACCEPTED + BROKEN + RARE
    assert said[1:] == ["  1 whose record the store does not hold, and no broker answers: s/gone"]
    ran = assay("export", "records", cwd=tmp_path)
    assert ran.returncode == 2
    assert "(store.url)" in ran.stderr


def test_the_broken_release_is_named_and_nothing_else(tmp_path: Path, labelled: Stored):
    asked = ("failures", "--since", "2026-11-16", "--until", "2026-11-17")
    ran = assay(*asked, "--json", cwd=tmp_path, ASSAY_STORE__URL=labelled.url)
    assert ran.returncode == 0, ran.stderr
    (report,) = map(json.loads, ran.stdout.splitlines())
    assert [report[name] for name in ("source", "model", "checker")] == ["s", "m", "consistency"]
    (one,) = report["common"]
    assert (one["name"], one["value"]) == ("metadata.release", "4.2")
    assert (one["rejects_with"], one["rejects"], one["accepts_with"]) == (BROKEN, BROKEN + RARE, 0)
    assert [len(group["ids"]) for group in report["unexplained"]] == [RARE]
    ran = assay(*asked, cwd=tmp_path, ASSAY_STORE__URL=labelled.url)
    assert "s / m  by consistency" in ran.stdout
    assert "common: 40 of 48 rejects have metadata.release 4.2; " in ran.stdout
    assert ran.stderr.splitlines() == ["1 series with rejects in that time"]
