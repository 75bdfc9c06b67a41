"""`assay compare`: what changed between two files of verdicts, and by how much."""

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

from assay.cli.compare import VerdictPairs
from schemas import Verdict, to_json
from tests.assay.running import assay
from tests.support.trust_verdicts import verdict


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
        found = VerdictPairs("c", drawn).difference
        assert found is not None
        held += found[2] <= -0.12 <= found[3]
    assert math.isclose(held / 2000, 0.95, abs_tol=0.02)
