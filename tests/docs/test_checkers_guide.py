"""The checker that docs/checkers.md shows is a checker, and short."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from assay import Checker
from assay.testing import check

GUIDE = Path(__file__).parents[2] / "docs" / "checkers.md"
CODE, TEST = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    file = tmp_path_factory.mktemp("guide") / "acme_brevity.py"
    file.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("acme_brevity", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_has_at_most_ten_lines_and_imports_from_assay_alone():
    lines = [line for line in CODE.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) <= 10
    assert [line for line in lines if "import" in line] == [lines[0]]
    assert lines[0].startswith("from assay import ")


@pytest.mark.parametrize(
    ("response", "outcome"), [("Short and good.", "accept"), ("word " * 300, "reject"), (" ", "abstain")]
)
def test_it_decides(shown: ModuleType, response: str, outcome: str) -> None:
    brevity: type[Checker] = shown.Brevity
    verdict = check(brevity, {"response": response})
    assert (verdict.outcome, verdict.checker) == (outcome, "brevity")


def test_its_own_test_holds(shown: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "acme_brevity", shown)
    exec(TEST, {})  # noqa: S102 - our own document
