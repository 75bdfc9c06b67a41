"""The checker that docs/checkers.md shows is a checker."""

import asyncio
import importlib.util
import re
from pathlib import Path

import pytest

from checkers.checker import CheckerPlugin, Models
from schemas import Generation, read_record

GUIDE = Path(__file__).parents[2] / "docs" / "checkers.md"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> CheckerPlugin:
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert code
    file = tmp_path_factory.mktemp("guide") / "acme_brevity.py"
    file.write_text(code[1], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("acme_brevity", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(module.PLUGIN, CheckerPlugin)
    return module.PLUGIN


class _Unasked:
    name = "nobody"


@pytest.mark.parametrize(
    ("response", "outcome"), [("Short and good.", "accept"), ("word " * 300, "reject"), (" ", "abstain")]
)
def test_the_shown_checker_decides(plugin: CheckerPlugin, response: str, outcome: str) -> None:
    models = Models(judge=_Unasked(), subjects={})  # type: ignore[arg-type]
    checker = plugin.build(plugin.settings(), models)
    record = Generation(kind="generation", source="s", model="m", response=response)
    verdict = asyncio.run(checker.check(record))
    assert verdict.outcome == outcome
    assert verdict.checker == "brevity"


def test_a_verdict_of_the_same_record_has_the_same_id(plugin: CheckerPlugin) -> None:
    checker = plugin.build(plugin.settings(), Models(judge=_Unasked(), subjects={}))  # type: ignore[arg-type]
    line = b'{"kind":"generation","source":"s","model":"m","response":"Short."}'
    first, second = (asyncio.run(checker.check(read_record(line, max_bytes=1000))) for _ in range(2))
    assert first.id == second.id
