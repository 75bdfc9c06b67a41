"""The rooms import each other in one direction only, and the core starts without anything heavy."""

import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYPROJECT = ROOT / "pyproject.toml"

MAY_IMPORT = {
    "schemas": set(),
    "models": {"schemas"},
    "streams": {"schemas"},
    "store": {"schemas"},
    "checkers": {"schemas", "models"},
    "agents": {"schemas", "models", "streams", "store", "checkers"},
    "web": {"schemas", "store"},
    "assay": {"schemas", "models", "streams", "store", "checkers", "agents", "web"},
    "lab": {"schemas", "models", "streams", "store", "checkers", "agents", "web", "assay"},
}
FORBIDDEN = [
    (importer, imported)
    for importer, imported in product(MAY_IMPORT, MAY_IMPORT)
    if importer != imported and imported not in MAY_IMPORT[importer]
]
HEAVY = {
    "torch",
    "faust",
    "openai",
    "aiokafka",
    "aiohttp",
    "httpx2",
    "sklearn",
    "sentence_transformers",
    "transformers",
}
HEAVY |= {"confluent_kafka", "numpy", "matplotlib"}
LIGHT = ["schemas", "checkers.checker", "models.protocol", "models.settings", "models.build", "models.local_grader"]
LIGHT += ["models.prompts", "models.local", "checkers.labelling.checker", "lab.commands", "assay.cli.root"]


def test_no_room_imports_one_that_it_may_not():
    # In a process of its own: it disables the loggers of whatever was imported before.
    ran = _linted(ROOT)
    assert ran.returncode == 0, ran.stdout


def test_every_import_that_is_not_allowed_is_noticed(tmp_path):
    for room in MAY_IMPORT:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").touch()
    for importer, imported in FORBIDDEN:
        (tmp_path / importer / f"uses_{imported}.py").write_text(f"import {imported}\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_bytes(PYPROJECT.read_bytes())
    ran = _linted(tmp_path)
    assert ran.returncode == 1
    for importer, imported in FORBIDDEN:
        assert f"{importer} is not allowed to import {imported}" in ran.stdout


def test_every_room_is_held_to_the_rule():
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert rooms == set(tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]["root_packages"])
    assert rooms == set(MAY_IMPORT)


def _linted(folder):
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    return subprocess.run([sys.executable, "-c", lint], cwd=folder, capture_output=True, text=True, check=False)


def test_the_core_is_imported_without_heavy_packages():
    program = "import importlib, sys; [print(importlib.import_module(each), *sys.modules) for each in sys.argv[1:]]"
    ran = subprocess.run([sys.executable, "-c", program, *LIGHT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {each: HEAVY & set(line.split()) for each, line in zip(LIGHT, ran.stdout.splitlines(), strict=True)} == {
        each: set() for each in LIGHT
    }
