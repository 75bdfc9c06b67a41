"""`assay compare`: what changed between two sides."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from assay.cli.compare import _version_lines, versions_by
from schemas import Calibration, Verdict, to_json
from tests.assay.running import assay, servers
from tests.support.scenarios import Place
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
