"""A method is one folder and one entry point: without any one of them the rest is whole."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.assay.running import environment

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ENTRY_POINTS: dict[str, str] = PROJECT["entry-points"]["assay.checkers"]
ROOMS = ("schemas", "models", "streams", "store", "checkers", "agents", "web", "assay")

# A record that each method decides about without asking a model, so that it shows at once that it is there.
RECORDS = {
    "consistency": {"kind": "generation", "response": " "},
    "equivalence": {"kind": "paraphrase", "sentence1": "x", "sentence2": "x", "answer": True},
    "extraction": {"kind": "extraction", "text": "x", "entities": []},
    "labelling": {"kind": "labelling", "datapoint": 1, "rubric": "unknown", "label": 1},
    "longtail": {
        "kind": "probe",
        "statement": {"premise": "p", "conclusion": "c"},
        "template": 1,
        "question": "q",
        "expected": "yes",
        "answer": "no",
    },
    "retrieval": {"kind": "retrieval", "store": "cache", "query": " ", "matched": {"id": "1", "text": "t", "score": 1}},
    "tool_call": {"kind": "tool_call", "name": "other", "arguments": {}, "tools": [{"name": "one"}]},
}

# These write records, show them, and read others' names for what a record tells: kinds of records, not methods.
KINDS_OF_RECORDS = (
    "assay/cli/convert.py",
    "streams/otlp/",
    "web/review.py",
)

PROGRAM = """
from assay.cli.root import cli
cli(["--help"], standalone_mode=False)
print("verdicts:", flush=True)
cli(["check", "records.jsonl"])
"""


NAMED_BY_USERS = {"criteria": ("assay/cli/root.py", "checkers/labelling/")}
"""Methods whose checkers are there only where a user configures them, and whose name is a command or a word of others:
a rubric has criteria."""


def test_each_method_has_a_record_here():
    assert RECORDS.keys() == ENTRY_POINTS.keys() - NAMED_BY_USERS.keys()


@cache
def _mentioned(file: Path) -> frozenset[str]:
    """The modules that a file imports, and its string constants."""
    found = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {f"{name.name}." for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}." for name in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return frozenset(found)


@pytest.mark.parametrize("method", ENTRY_POINTS)
def test_no_code_outside_a_method_imports_or_names_it(method: str):
    own, allowed = ROOT / "checkers" / method, (*KINDS_OF_RECORDS, *NAMED_BY_USERS.get(method, ()))
    # The kinds of evidence and the names of records' kinds are what travels, and stay.
    files = [file for room in ROOMS if room != "schemas" for file in (ROOT / room).rglob("*.py")]
    telling = {
        str(file.relative_to(ROOT)): text
        for file in files
        if own not in file.parents
        for text in _mentioned(file)
        if text.startswith(f"checkers.{method}.")
        or (text == method and not str(file.relative_to(ROOT)).startswith(allowed))
    }
    assert telling == {}


@pytest.mark.parametrize("half", [0, 1])
def test_without_some_methods_all_others_check(half: int, tmp_path: Path):
    gone = sorted(ENTRY_POINTS)[half::2]
    (tmp_path / "checkers").mkdir()
    # Links, so that what is compiled already is not compiled again.
    for path in [ROOT / room for room in ROOMS if room != "checkers"] + list((ROOT / "checkers").iterdir()):
        if path.parent != ROOT / "checkers" or path.name not in gone:
            (tmp_path / path.relative_to(ROOT)).symlink_to(path)
    others = {name: target for name, target in ENTRY_POINTS.items() if name not in gone}
    info = tmp_path / "assay-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 0\n", encoding="utf-8")
    points = "".join(f"{name} = {target}\n" for name, target in others.items())
    (info / "entry_points.txt").write_text(f"[assay.checkers]\n{points}", encoding="utf-8")
    # The laboratory needs methods, and stands in for none here.
    laboratory = tmp_path / "assay_lab-0.dist-info"
    laboratory.mkdir()
    (laboratory / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-lab\nVersion: 0\n", encoding="utf-8")
    lines = [json.dumps({"id": name, "source": "s", "model": "m", **record}) for name, record in RECORDS.items()]
    (tmp_path / "records.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path)),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    verdicts = [json.loads(line) for line in ran.stdout.partition("verdicts:\n")[2].splitlines()]
    assert {verdict["record_id"]: verdict["checker"] for verdict in verdicts} == {
        name: "none" if name in gone else name for name in RECORDS
    }
    assert not re.search("warning|Traceback", ran.stderr)
