"""The checker that docs/checkers.md shows is a checker, and short; from a package outside it runs on the stream."""

import asyncio
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from assay import Checker
from assay.testing import check
from tests.assay.running import environment
from tests.support.scenarios import Place
from tests.support.service import running_worker
from tests.support.traffic import collect, put, record

GUIDE = Path(__file__).parents[2] / "docs" / "checkers.md"
CODE, TEST = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
(PROJECT,) = re.findall(r"```toml\n(# pyproject.toml.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


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


def test_installed_from_outside_it_runs_on_the_stream(tmp_path: Path, embedded_place: Place) -> None:
    """As its pyproject.toml has it, without a network."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "acme_brevity.py").write_text(CODE, encoding="utf-8")
    (package / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    offline = ["--no-deps", "--no-build-isolation", "--offline", "--no-cache"]
    subprocess.run([*install, *offline, "--target", tmp_path / "site", package], check=True)
    topics = embedded_place.checked().topics
    words = [3, 300]
    records = [record(number, response="word " * count) for number, count in enumerate(words)]
    asyncio.run(put(embedded_place.servers, topics.outputs, records))
    configured = {
        "ASSAY_KAFKA__BOOTSTRAP_SERVERS": embedded_place.servers,
        "ASSAY_TOPICS__PREFIX": embedded_place.prefix,
        # It needs no judge: one that cannot be had keeps nobody waiting.
        "ASSAY_JUDGE__BACKEND": "replay",
        "ASSAY_JUDGE__RECORDING": "missing.jsonl",
    }
    variables = environment(tmp_path / "site", **configured)
    with running_worker(tmp_path, "--checkers", "brevity", "--agents", "none", environment=variables) as service:
        seen = asyncio.run(collect(embedded_place.servers, topics, records=len(words)))
        assert service.terminate() == 0
    assert seen.outcomes == {"accept": 1, "reject": 1}
