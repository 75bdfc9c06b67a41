"""What docs/extraction.md shows can be loaded and run, and its figures are those of the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from checkers.extraction.linearity import rejection_probability
from tests.assay.running import assay

GUIDE = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text("utf-8")


@pytest.mark.parametrize("shown", re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL))
def test_each_configuration_can_be_loaded(shown: str, tmp_path: Path):
    (tmp_path / "assay.toml").write_text(shown, "utf-8")
    ran = assay("config", "check", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_program_runs(tmp_path: Path):
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_bounds_are_as_told():
    section = GUIDE.partition("### What an acceptance says")[2].partition("###")[0]
    assert re.findall(r"\b0\.\d{3}\b", section) == [
        f"{1 - rejection_probability(epsilon, tests):.3f}" for tests in (5, 10) for epsilon in (0.1, 0.05)
    ]
