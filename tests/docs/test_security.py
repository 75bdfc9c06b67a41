"""Every line of docs/security.md that promises something names a test that there is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMISES = (ROOT / "docs" / "security.md").read_text("utf-8").partition("## What is not")[0]


def test_every_promise_has_its_test():
    rows = [line for line in PROMISES.splitlines() if line.startswith("| ") and not line.startswith("| |")]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"\[`(test_\w+)`\]\(\.\./(tests/[\w/]+\.py)\)", row)
        assert named, row
        for test, file in named:
            assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file} has no {test}"
