"""The program as users run it, and a checker as third parties install one."""

import contextlib
import importlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from tests.support.scenarios import Place

ROOT = Path(__file__).parent.parent.parent
TIMEOUT = 120

SHOUTING = '''
"""Rejects what shouts: a checker that asks no model."""

import asyncio
from typing import Annotated

from pydantic import SecretStr

from assay import OPERATIONAL, Checker, CheckerPlugin, CheckerSettings, Decision, Generation, Paraphrase, Undecidable


class Settings(CheckerSettings):
    mark: str = "!"
    api_key: SecretStr | None = None
    delay: Annotated[float, OPERATIONAL] = 0.0


class Shouting(Checker[Settings]):
    name = "shouting"
    version = "3"

    async def decide(self, record: Generation | Paraphrase) -> Decision:
        text = getattr(record, "response", "") or getattr(record, "sentence1", "")
        if text == "crash":
            raise RuntimeError("what the record says: crash")
        # Later ones are done first: the order must be made, not found.
        await asyncio.sleep(self.settings.delay * len(text))
        if not text:
            raise Undecidable("empty_response", "there is nothing")
        return Decision(accepted=self.settings.mark not in text, reason=f"Heard “{text}”.")


PLUGIN = CheckerPlugin(checker=Shouting)
'''


def install(site: Path, *, module: str, source: str, entry_points: dict[str, str]) -> None:
    """Put a package with checkers where Python finds installed ones."""
    site.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(source, encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    points = "".join(f"{name} = {value}\n" for name, value in entry_points.items())
    (info / "entry_points.txt").write_text(f"[assay.checkers]\n{points}", encoding="utf-8")


def servers(place: Place) -> dict[str, str]:
    """The variables that lead to the topics of `place`."""
    return {"ASSAY_KAFKA__BOOTSTRAP_SERVERS": place.servers, "ASSAY_TOPICS__PREFIX": place.prefix}


def install_shouting(site: Path) -> None:
    install(site, module="shouting", source=SHOUTING, entry_points={"shouting": "shouting:PLUGIN"})


def environment(site: Path | None = None, **variables: str) -> dict[str, str]:
    """The environment without what configures assay, and with `variables`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    paths = [str(site)] if site else []
    return clean | {"PYTHONPATH": os.pathsep.join([*paths, str(ROOT)])} | variables


def assay(
    *arguments: str | Path,
    cwd: Path,
    site: Path | None = None,
    stdin: bytes = b"",
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end, in this process."""
    from assay.cli.root import cli

    command = ["assay", *map(str, arguments)]
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environment(**variables), clear=True),
        installed(site),
        tempfile.TemporaryFile() as given,
        mock.patch.object(sys, "stdin", io.TextIOWrapper(given, "utf-8")),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        given.write(stdin)
        given.seek(0)
        try:
            cli(command[1:], prog_name="assay")
        except SystemExit as ended:
            status = int(ended.code or 0)
    shown = (stream.buffer.getvalue().decode() for stream in (stdout, stderr))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(command, status, *shown)


@contextlib.contextmanager
def installed(site: Path | None) -> Iterator[None]:
    """What stands in `site` is installed as long as the context lasts."""
    if site is None:
        yield
        return
    sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        for name, module in sys.modules.copy().items():
            if str(getattr(module, "__file__", None) or "").startswith(str(site)):
                del sys.modules[name]


def assay_process(*arguments: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the program as users do, in a process of its own, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "assay", *map(str, arguments)],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=TIMEOUT,
    )
