"""What the guides show of Python, endpoints and extraction runs as it stands."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.testing import check
from checkers.consistency.checker import ConsistencyChecker
from checkers.extraction.linearity import rejection_probability
from models.build import build_judge
from models.settings import JudgeSettings
from tests.assay.running import assay

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "python.md").read_text("utf-8")
(README,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


async def test_what_is_shown_runs_where_an_event_loop_does(
    unconfigured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What the guide sets is taken back.
    monkeypatch.setenv("ASSAY_CONSISTENCY__DEADLINE_SECONDS", "40")
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


ENDPOINTS = (Path(__file__).parents[2] / "docs" / "endpoints.md").read_text("utf-8")


def test_the_older_address_of_azure_can_be_loaded_and_its_key_is_not_shown(tmp_path: Path):
    (address,) = re.findall(r'`base_url = "(\S+api-version\S+)"`', ENDPOINTS)
    (headers,) = re.findall(r"`ASSAY_JUDGE__EXTRA_HEADERS='(.+)'`", ENDPOINTS)
    (shown,) = re.findall(r"\n## Azure OpenAI\n.*?```toml\n(.*?)```", ENDPOINTS, re.DOTALL)
    (tmp_path / "assay.toml").write_text(shown, "utf-8")
    key = {"ASSAY_JUDGE__EXTRA_HEADERS": headers.replace("…", "0123456789")}
    ran = assay("config", "check", cwd=tmp_path, ASSAY_JUDGE__BASE_URL=address, **key)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert address in ran.stdout
    assert "0123456789" not in ran.stdout


EXTRACTION = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text("utf-8")


def test_the_program_runs(tmp_path: Path):
    (program,) = re.findall(r"```python\n(.*?)```", EXTRACTION, re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_bounds_are_as_told():
    section = EXTRACTION.partition("### What an acceptance says")[2].partition("###")[0]
    assert re.findall(r"\b0\.\d{3}\b", section) == [
        f"{1 - rejection_probability(epsilon, tests):.3f}" for tests in (10, 5) for epsilon in (0.1, 0.05)
    ]
