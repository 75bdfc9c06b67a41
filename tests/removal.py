"""`make removable`: without any one method the rest passes lint, types and its tests.

For each method it copies the project without the method's folder, entry point, settings in documents, and whatever
tests and benchmarks name the method, and runs the tools there. The tests' suite has the quick form, in
`tests/test_removal.py`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
ROOMS = ("schemas", "models", "streams", "store", "checkers", "agents", "web", "assay", "lab")


def main() -> int:
    """Check all methods, or those named as arguments; the exit status is the number of those without which it fails."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    methods = sys.argv[1:] or [*pyproject["project"]["entry-points"]["assay.checkers"]]
    failed = [method for method in methods if not _is_removable(method)]
    print(f"not removable: {', '.join(failed)}" if failed else f"removable: {', '.join(methods)}")
    return len(failed)


def _is_removable(method: str) -> bool:
    print(f"\n# without {method}", flush=True)
    with tempfile.TemporaryDirectory(prefix="assay-removal-") as folder:
        copy = Path(folder)
        _copy_without(method, copy)
        commands = [
            [BIN / "ruff", "check", "--quiet", *ROOMS],
            [BIN / "mypy", *(part for room in ROOMS for part in ("-p", room))],
            [BIN / "pytest", "-q", "-n", "auto", "--no-header"],
        ]
        environment = os.environ | {"PYTHONPATH": str(copy)}
        document = subprocess.run(
            [sys.executable, "docs/configuration.py"], cwd=copy, env=environment, capture_output=True, check=True
        )
        (copy / "docs" / "configuration.md").write_bytes(document.stdout)
        return all(
            subprocess.run(command, cwd=copy, env=environment, check=False).returncode == 0 for command in commands
        )


def _copy_without(method: str, copy: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, files):
        source = ROOT / name
        if not source.is_file() or name.startswith((f"checkers/{method}/", f"tests/checkers/{method}/")):
            continue
        if name.startswith(("tests/", "benchmarks/", "lab/")) and name.endswith(".py") and _names(method, source):
            continue
        if name.startswith("tests/deploy/") and _is_deployed(method):
            continue
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy / name)
    for document in (copy / "docs").glob("*.md"):
        document.write_text(_without_settings(method, document.read_text("utf-8")), encoding="utf-8")
    cache = ROOT / ".mypy_cache"
    if cache.is_dir():
        shutil.copytree(cache, copy / ".mypy_cache")
    pyproject = copy / "pyproject.toml"
    text = re.sub(rf'^{method} = "checkers\.{method}:\w+"\n', "", pyproject.read_text("utf-8"), flags=re.MULTILINE)
    pyproject.write_text(text, encoding="utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]["assay.checkers"]
    info = copy / "assay-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 0\n", encoding="utf-8")
    lines = "".join(f"{name} = {target}\n" for name, target in points.items())
    (info / "entry_points.txt").write_text(f"[assay.checkers]\n{lines}", encoding="utf-8")
    laboratory = copy / "assay_lab-0.dist-info"
    laboratory.mkdir()
    (laboratory / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-lab\nVersion: 0\n", encoding="utf-8")


def _without_settings(method: str, document: str) -> str:
    """The document without the method's tables of TOML, up to the next table or the end of the example."""
    return re.sub(rf"^\[{method}\b.*\n(?:(?!\[|```).*\n)*", "", document, flags=re.MULTILINE)


def _is_deployed(method: str) -> bool:
    """True if `deploy/` has a place for the method, so that its tests need the method."""
    files = (ROOT / "deploy" / "kubernetes").rglob("*.yaml")
    return any(re.search(rf"\b{method}\b", file.read_text("utf-8")) for file in files)


def _names(method: str, file: Path) -> bool:
    """True if a test or benchmark is about the method: a test names it, or what it needs imports it."""
    text = file.read_text("utf-8")
    is_helper = not file.name.startswith("test_")
    if re.search(rf"\bcheckers\.{method}\b" if is_helper else rf"\b{method}\b", text, re.IGNORECASE):
        return True
    needed = (ROOT / f"{name.replace('.', '/')}.py" for name in re.findall(r"from (tests\.[\w.]+) import", text))
    return any(_names(method, module) for module in needed if module != file and module.is_file())


if __name__ == "__main__":
    sys.exit(main())
