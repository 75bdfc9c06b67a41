"""`assay compare` and `assay failures`: what changed between two sides, and what rejects have in common."""

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

import assay as package
from assay.cli.compare import _version_lines, versions_by
from schemas import Calibration, Verdict, to_json
from tests.assay.running import ROOT, assay, servers
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put
from tests.support.trust_verdicts import verdict
from tests.support.versions import VERSIONS, version_rate, versions


def written(path: Path, verdicts: list[Verdict]) -> Path:
    path.write_bytes(b"".join(to_json(one, newline=True) for one in verdicts))
    return path


def test_changes_are_named_and_rates_compared_on_what_both_decide(tmp_path: Path):
    before = written(tmp_path / "a.jsonl", [verdict(n, n < 8) for n in range(10)])
    after = written(tmp_path / "b.jsonl", [verdict(n, n < 5) for n in range(1, 12)])
    ran = assay("compare", before, after, cwd=tmp_path)
    assert ran.returncode == 0
    assert "fair: before 77.8% of 9 accepted" in ran.stdout
    assert "after 44.4% of 9 accepted" in ran.stdout
    assert re.search(r"on the 9 that both decide -33\.3% \(-\d+\.\d% to [+-]\d+\.\d%\)", ran.stdout)
    assert re.findall(r"^(r\d)  accept → reject  Reason", ran.stdout, re.MULTILINE) == ["r5", "r6", "r7"]
    assert "1 verdicts are in the first file alone, 2 in the second alone." in ran.stdout
    told = json.loads(assay("compare", before, after, "--json", cwd=tmp_path).stdout)
    assert [one["record_id"] for one in told["changes"]] == ["r5", "r6", "r7"]


def test_what_cannot_be_compared_is_said(tmp_path: Path):
    one = written(tmp_path / "a.jsonl", [verdict(1, True)])
    other = written(tmp_path / "b.jsonl", [verdict(2, True)])
    (tmp_path / "c.jsonl").write_text('{"id": "r1", "kind": "generation"}\n')
    ran = assay("compare", one, other, cwd=tmp_path)
    assert (ran.returncode, "no verdict on the same record" in ran.stderr) == (3, True)
    ran = assay("compare", one, tmp_path / "c.jsonl", cwd=tmp_path)
    assert (ran.returncode, "c.jsonl:1: " in ran.stderr and "expected verdict" in ran.stderr) == (2, True)
    assert "No verdict differs." in assay("compare", one, one, cwd=tmp_path).stdout


BY = ("compare", "--by", "metadata.release")
SAID = [
    "fair, by metadata.release:",
    "  4.1: 90.0% of 400 accepted",
    "  4.2: 75.0% of 200 accepted",
    "    -15.0% (-25.5% to -4.5% at every look) from the version before: worse",
]


def compared(*series: Calibration) -> list[str]:
    return list(_version_lines("metadata.release", versions_by("metadata.release", series)))


def test_versions_are_compared_from_their_topic_by_the_last_message_of_each_series(
    tmp_path: Path, embedded_place: Place
):
    topic = embedded_place.checked().topics.calibration
    before = versions(VERSIONS[0], id="cal-0")
    asyncio.run(put(embedded_place.servers, topic, [to_json(before), to_json(versions(*VERSIONS))]))
    ran = assay(*BY, cwd=tmp_path, **servers(embedded_place))
    assert (ran.returncode, ran.stdout.splitlines()) == (0, SAID), ran.stderr
    (_, after) = json.loads(assay(*BY, "--json", cwd=tmp_path, **servers(embedded_place)).stdout)["fair"]
    assert (after["change"]["estimate"], after["unlike"]) == (pytest.approx(-0.15), [])
    ran = assay("compare", "--by", "metadata.prompt", cwd=tmp_path, **servers(embedded_place))
    assert (ran.returncode, "records.version_metadata names what tells them" in ran.stderr) == (3, True)


def test_several_series_are_one_by_their_verdicts_and_where_sources_differ_that_is_said():
    assert compared(versions(*VERSIONS), versions(model="m2")) == SAID
    said = compared(versions(*VERSIONS), versions(version_rate("4.1", 400, 320), source="other"))
    assert said[1] == "  4.1: 85.0% of 800 accepted"
    assert said[-1] == "    The traffic differs (source): the difference may come from there."
    (both, _) = versions_by("metadata.release", [versions(*VERSIONS)] * 2)["fair"]
    assert both.judged.variance == pytest.approx(VERSIONS[0].judged.variance / 2)


NOW = datetime.now(UTC).replace(minute=10, second=0, microsecond=0) - timedelta(hours=2)
RELEASE = ("metadata.release", "4.2")


@pytest.fixture(scope="module")
def update() -> list[Verdict]:
    """The demo's update, as the bundled judge sees it, within one hour."""
    records = [json.loads(line) for line in (ROOT / "examples" / "model_update.jsonl").read_text("utf-8").splitlines()]
    verdicts = [verdict for of_record in asyncio.run(package.acheck(records)) for verdict in of_record]
    return [
        each.model_copy(update={"checked_at": NOW + timedelta(seconds=10 * number), "occurred_at": None})
        for number, each in enumerate(verdicts)
    ]


@pytest.fixture
def filled(tmp_path: Path, update: list[Verdict]) -> Iterator[Stored]:
    stored = Stored(f"sqlite:///{tmp_path / 'verdicts.db'}")
    stored.keep(update)
    yield stored
    stored.close()


def test_the_broken_release_is_named_and_nothing_else(tmp_path: Path, filled: Stored):
    ran = assay("failures", "--json", cwd=tmp_path, ASSAY_STORE__URL=filled.url)
    assert ran.returncode == 0, ran.stderr
    (report,) = map(orjson.loads, ran.stdout.splitlines())
    assert [report[name] for name in ("source", "model", "checker")] == ["orders-bot", "acme-chat-4", "consistency"]
    assert [(one["name"], one["value"]) for one in report["common"]] == [RELEASE]
    one = report["common"][0]
    assert one["rejects_with"] / one["rejects"] > 0.8
    assert one["accepts_with"] / one["accepts"] < 0.3
    explained = one["rejects_with"] + sum(len(group["ids"]) for group in report["unexplained"])
    assert explained == report["compared"][0] == report["rejects"]

    ran = assay("failures", cwd=tmp_path, ASSAY_STORE__URL=filled.url)
    said = f"common: {one['rejects_with']} of {one['rejects']} rejects have metadata.release 4.2; "
    assert said in ran.stdout
    assert "orders-bot / acme-chat-4  by consistency" in ran.stdout
    assert ran.stderr.splitlines() == ["1 series with rejects in that time"]
