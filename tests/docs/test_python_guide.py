"""What the guides show of Python, endpoints and extraction runs as it stands."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.testing import check
from checkers.consistency.checker import ConsistencyChecker
from models.build import build_judge
from models.settings import JudgeSettings

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "python.md").read_text("utf-8")
(README,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


async def test_what_is_shown_runs_where_an_event_loop_does(
    unconfigured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    (printed,) = re.findall(r"```\n(REJECT.*?)```", GUIDE, re.DOTALL)
    names: dict[str, object] = {}
    exec(first, names)  # noqa: S102 - our own document
    assert capsys.readouterr().out == printed
    for shown in (*others, README):
        exec(shown, names)  # noqa: S102
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        returned = test()
        if asyncio.iscoroutine(returned):
            await returned
    assert "REJECT" in capsys.readouterr().out


async def test_an_authors_test_takes_the_local_judge_too_as_often_as_it_likes() -> None:
    judge = build_judge(JudgeSettings())
    record = {"response": "It left on Monday.", "reference": "The parcel left on Friday."}
    assert [check(ConsistencyChecker, record, judge=judge).outcome for _ in range(2)] == ["reject"] * 2


EXTRACTION = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text("utf-8")


def test_the_program_runs(tmp_path: Path):
    (program,) = re.findall(r"```python\n(.*?)```", EXTRACTION, re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
