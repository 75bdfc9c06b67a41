"""`assay compare`: what changed between two files of verdicts, and by how much."""

import asyncio
import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from assay.cli.compare import VersionComparison
from checkers.intervals import paired
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
    assert (ran.returncode, "c.jsonl:1: not a verdict: " in ran.stderr) == (2, True)
    assert "No verdict differs." in assay("compare", one, one, cwd=tmp_path).stdout


def test_the_interval_holds_the_true_difference_in_about_95_of_100_cases():
    rng = random.Random(3)
    held = 0
    for _ in range(2000):
        # Of paired outcomes 20% are lost and 8% gained.
        drawn = Counter(
            ("accept", "reject") if (draw := rng.random()) < 0.20 else ("reject", "accept") if draw < 0.28
            else ("accept", "accept") for _ in range(60)
        )  # fmt: skip
        low, high = paired(drawn["reject", "accept"], drawn["accept", "reject"], 60)
        held += low <= -0.12 <= high
    assert math.isclose(held / 2000, 0.95, abs_tol=0.02)


BY = ("compare", "--by", "metadata.release")
SAID = [
    "fair, by metadata.release:",
    "  4.1: 90.0% of 400 accepted",
    "  4.2: 75.0% of 200 accepted",
    "    -15.0% (-25.5% to -4.5% at every look) from the version before: worse",
]


def compared(*series: Calibration) -> list[str]:
    return list(VersionComparison.of(series, "metadata.release").lines())


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
    (both, _) = VersionComparison.of([versions(*VERSIONS)] * 2, "metadata.release").checkers["fair"]
    assert both.judged.variance == pytest.approx(VERSIONS[0].judged.variance / 2)


def test_peoples_labels_correct_it():
    said = compared(versions(*(version_rate(name, 400, 340, day=int(name), good=50) for name in "45")))
    assert said[1] == "  4: 85.0% of 400 accepted, 83.3% good by 60 labels"
    assert re.fullmatch(r"    \+0\.0% \(.*\) from the version before: not proved to differ", said[3])


@pytest.mark.parametrize("given", [("compare",), (*BY, "assay.toml")])
def test_what_cannot_be_asked_is_said(tmp_path: Path, given: tuple[str, ...]):
    (tmp_path / "assay.toml").touch()
    ran = assay(*given, cwd=tmp_path)
    assert (ran.returncode, "give either two files or --by metadata.KEY" in " ".join(ran.stderr.split())) == (2, True)
