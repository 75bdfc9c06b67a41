"""`assay compare`: what changed between two files of verdicts, and by how much."""

import asyncio
import json
import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checkers.intervals import paired
from schemas import Verdict, to_json
from tests.assay.running import assay, servers
from tests.support.labels import CALIBRATION
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put
from tests.support.trust_verdicts import verdict
from tests.support.versions import VERSIONS, version_rate, version_rates


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
    "fair: metadata.release 4.1 and 4.2",
    "  4.1: 90.0% of 400 accepted",
    "  4.2: 75.0% of 200 accepted",
    "  4.2 less 4.1: -15.0% (-25.5% to -4.5% at every look): worse",
]


def kept(tmp_path: Path, store: Stored, *messages: Any) -> None:
    store.keep(messages)
    (tmp_path / "assay.toml").write_text(f"[store]\nurl = '{store.url}'\n")


def test_two_versions_are_compared_from_the_store_without_a_broker(tmp_path: Path, sqlite_store: Stored):
    kept(tmp_path, sqlite_store, VERSIONS)
    ran = assay(*BY, cwd=tmp_path)
    assert (ran.returncode, ran.stdout.splitlines()) == (0, SAID), ran.stderr
    turned = json.loads(assay(*BY, "--versions", "4.2", "4.1", "--json", cwd=tmp_path).stdout)
    (figures,) = turned["checkers"]
    assert figures["versions"] == ["4.2", "4.1"]
    assert figures["difference"]["estimate"] == pytest.approx(0.15)
    assert (figures["unlike"], figures["labelled"]) == ([], None)


def test_or_from_their_topics_the_last_of_each_series(tmp_path: Path, embedded_place: Place):
    topics = embedded_place.checked().topics
    before = VERSIONS.model_copy(update={"id": "versions-0", "versions": VERSIONS.versions[:1]})
    asyncio.run(put(embedded_place.servers, topics.versions, [to_json(before), to_json(VERSIONS)]))
    ran = assay(*BY, cwd=tmp_path, **servers(embedded_place))
    assert (ran.returncode, ran.stdout.splitlines()) == (0, SAID), ran.stderr


def test_several_sources_are_one_and_where_they_differ_that_is_said(tmp_path: Path, sqlite_store: Stored):
    alone = version_rates(version_rate("4.1", 400, 360), source="other", id="versions-2")
    kept(tmp_path, sqlite_store, VERSIONS, alone)
    ran = assay(*BY, cwd=tmp_path)
    assert "  4.1: 90.0% of 800 accepted" in ran.stdout
    assert "The traffic differs (source): the difference may come from there." in ran.stdout
    assert assay(*BY, "--source", "shop", cwd=tmp_path).stdout.splitlines() == SAID


def test_peoples_labels_correct_it(tmp_path: Path, sqlite_store: Stored):
    rates = [version_rate(name, 400, 340).model_copy(update={"labels": 50}) for name in ("4.1", "4.2")]
    kept(tmp_path, sqlite_store, VERSIONS, CALIBRATION.model_copy(update={"versions": tuple(rates)}))
    said = assay(*BY, cwd=tmp_path).stdout
    assert re.search(r"by people's labels, 50 and 50: \+0\.0% \(.*\): neither is proved to be better", said)


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (("compare",), 2, "give two files, or --by metadata.KEY"),
        (("compare", "--by", "metadata.prompt"), 2, "no verdict has 'metadata.prompt'; --by takes metadata.release"),
        ((*BY, "--versions", "4.1", "5"), 2, "fair has no version '5'; there are 4.1, 4.2"),
        ((*BY, "--versions", "4.1", "4.1"), 3, "there are not two versions by metadata.release"),
        ((*BY, "--source", "none"), 3, "records.version_metadata names the metadata"),
        ((*BY, "assay.toml"), 2, "files and --by exclude each other"),
    ],
)
def test_what_cannot_be_asked_is_said(
    tmp_path: Path, sqlite_store: Stored, given: tuple[str, ...], status: int, said: str
):
    kept(tmp_path, sqlite_store, VERSIONS)
    ran = assay(*given, cwd=tmp_path)
    assert (ran.returncode, said in " ".join(ran.stderr.split())) == (status, True), ran.stderr
