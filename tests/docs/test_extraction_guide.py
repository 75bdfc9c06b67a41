"""The program that docs/extraction.md shows runs, and its figures are those of the code."""

import re
import subprocess
import sys
from pathlib import Path

from checkers.extraction.linearity import rejection_probability

GUIDE = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text("utf-8")


def test_the_program_runs(tmp_path: Path):
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_bounds_are_as_told():
    section = GUIDE.partition("### What an acceptance says")[2].partition("###")[0]
    assert re.findall(r"\b0\.\d{3}\b", section) == [
        f"{1 - rejection_probability(epsilon, tests):.3f}" for tests in (10, 5) for epsilon in (0.1, 0.05)
    ]
