"""A method is one folder and one entry point: without any one of them the rest is whole."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.assay.running import environment

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ENTRY_POINTS: dict[str, str] = PROJECT["entry-points"]["assay.checkers"]
ROOMS = ("schemas", "checkers", "streams", "agents", "assay")

# A record that each method decides about without asking a model, so that it shows at once that it is there.
RECORDS = {
    "consistency": {"kind": "generation", "response": " "},
    "equivalence": {"kind": "paraphrase", "sentence1": " ", "sentence2": "y", "answer": True},
    "labelling": {"kind": "labelling", "datapoint": 1, "rubric": "unknown", "label": 1},
    "retrieval": {"kind": "retrieval", "store": "s", "query": " ", "matched": {"text": "t"}},
}

PROGRAM = """
import importlib, pkgutil, sys
for room in {rooms}:
    package = importlib.import_module(room)
    for found in pkgutil.walk_packages(package.__path__, room + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
from assay.__main__ import main
sys.argv[1:] = ["check", "records.jsonl"]
main()
"""


def test_each_method_has_a_record_here():
    assert RECORDS.keys() == ENTRY_POINTS.keys()


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("method", ENTRY_POINTS)
def test_no_code_outside_a_method_imports_or_names_it(method: str):
    own = ROOT / "checkers" / method
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py") if own not in file.parents]
    importing = {file for file in files for name in _imported(file) if f"{name}.".startswith(f"checkers.{method}.")}
    assert importing == set()
    naming = {
        file
        for file in files
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Constant) and node.value == method and "schemas" not in file.parts
    }
    assert naming == set()


@pytest.mark.parametrize("method", ENTRY_POINTS)
def test_without_a_method_all_other_modules_import_and_all_other_methods_check(method: str, tmp_path: Path):
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__", *([method] if room == "checkers" else []))
        shutil.copytree(ROOT / room, tmp_path / room, ignore=ignored)
    others = {name: target for name, target in ENTRY_POINTS.items() if name != method}
    info = tmp_path / "assay-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 0\n", encoding="utf-8")
    points = "".join(f"{name} = {target}\n" for name, target in others.items())
    (info / "entry_points.txt").write_text(f"[assay.checkers]\n{points}", encoding="utf-8")
    lines = [json.dumps({"id": name, "source": "s", "model": "m", **record}) for name, record in RECORDS.items()]
    (tmp_path / "records.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(rooms=ROOMS)],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path)),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    verdicts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {verdict["record_id"]: verdict["checker"] for verdict in verdicts} == {
        name: "none" if name == method else name for name in RECORDS
    }
    assert not re.search("warning|Traceback", ran.stderr)
