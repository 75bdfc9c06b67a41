"""Another package in place of one of ours is named, with ours and with what to do, however Python is started."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.assay.running import ROOT, environment

ROOMS = ("agents", "assay", "checkers", "lab", "models", "schemas", "streams")
PYTHON, PROGRAM = sys.executable, str(Path(sys.executable).with_name("assay"))


def ran(*command: str, cwd: Path, path: str = str(ROOT)) -> subprocess.CompletedProcess[str]:
    variables = environment(PYTHONPATH=path)
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False, timeout=120)


def theirs(folder: Path, name: str) -> str:
    """The file of a package of somebody else, which is not to be run."""
    (folder / name).mkdir()
    file = folder / name / "__init__.py"
    file.write_text("raise SystemExit('it ran')")
    return str(file)


def line(name: str, found: str, ours: Path = ROOT) -> str:
    return (
        f"assay's package {name!r} is {ours / name / '__init__.py'}, but Python finds {found}: "
        "keep assay in its own environment, and run it outside folders that have such a package\n"
    )


@pytest.mark.parametrize(
    ("name", "command"),
    [
        *((name, [PYTHON, "-m", "assay", "worker"]) for name in ROOMS if name not in {"assay", "lab"}),
        ("schemas", [PYTHON, "-X", "utf8", "-m", "assay"]),
        ("models", [PROGRAM, "config", "check"]),
    ],
)
def test_the_program_ends_with_one_line(tmp_path: Path, name: str, command: list[str]) -> None:
    found = theirs(tmp_path, name)
    ended = ran(*command, cwd=tmp_path, path=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"Error: {line(name, found)}")


@pytest.mark.parametrize("statement", ["import assay", "from assay import Checker"])
def test_in_a_folder_that_has_one_the_import_fails_with_that_line(tmp_path: Path, statement: str) -> None:
    found = theirs(tmp_path, "schemas")
    ended = ran(PYTHON, "-c", statement, cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.endswith(f"ImportError: {line('schemas', found)}")


def test_pytest_says_it_where_the_test_stands_beside_one(tmp_path: Path) -> None:
    found = theirs(tmp_path, "schemas")
    (tmp_path / "test_it.py").write_text("from assay import Checker")
    ended = ran(PYTHON, "-m", "pytest", "-m", "assay", "-p", "no:cacheprovider", "test_it.py", cwd=tmp_path)
    assert f"E   ImportError: {line('schemas', found)}" in ended.stdout


def test_one_that_was_imported_before_is_named_too(tmp_path: Path) -> None:
    found = theirs(tmp_path, "agents")
    Path(found).write_text("")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import agents; sys.path.pop(0); import assay"
    assert ran(PYTHON, "-c", program, cwd=tmp_path.parent).stderr.endswith(line("agents", found))
    stand_in = "import sys, types; sys.modules['agents'] = types.ModuleType('agents'); import assay"
    assert ran(PYTHON, "-c", stand_in, cwd=tmp_path.parent).stderr == ""


def test_one_that_came_onto_the_path_later_is_named_when_ours_is_needed(tmp_path: Path) -> None:
    found = theirs(tmp_path, "agents")
    program = f"import sys, assay; sys.path.insert(0, {str(tmp_path)!r}); assay.check([{{}}])"
    assert ran(PYTHON, "-c", program, cwd=tmp_path.parent).stderr.endswith(line("agents", found))


def test_ours_in_an_archive_or_behind_a_link_or_beside_tests_of_the_same_names_are_ours(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ours.zip", "w") as archive:
        for room in ROOMS:
            for file in (ROOT / room).rglob("*.py"):
                archive.write(file, file.relative_to(ROOT))
    (tmp_path / "link").symlink_to(ROOT)
    for room in ROOMS:
        # Folders without an __init__.py, such as those of tests, stand before nothing.
        (tmp_path / room).mkdir()
    for path in ("ours.zip", "link"):
        said = ran(PYTHON, "-c", "import assay; print(assay.__file__)", cwd=tmp_path, path=str(tmp_path / path))
        assert (said.stdout, said.stderr) == (f"{tmp_path / path / 'assay' / '__init__.py'}\n", "")
