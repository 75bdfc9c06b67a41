"""What keeps several processes running, with ones that take a moment; and what the command line refuses."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from agents.processes import Processes
from tests.assay.running import assay
from tests.support.waiting import until

LIVES = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("started", flush=True)
with pathlib.Path(sys.argv[1]).open("a") as file:
    print(os.getpid(), file=file)
while True:
    time.sleep(1)
"""


def _lives(file: Path) -> list[str]:
    return [sys.executable, "-c", LIVES, str(file)]


def _pids(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


async def test_one_that_dies_comes_back_and_a_signal_ends_all(tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    running = asyncio.create_task(Processes([_lives(first), _lives(second)]).run())
    await until(lambda: _pids(first) and _pids(second))
    os.kill(_pids(second)[0], signal.SIGKILL)
    await until(lambda: len(_pids(second)) == 2)
    assert len(_pids(first)) == 1
    os.kill(os.getpid(), signal.SIGTERM)
    assert await running == 0
    for pid in (*_pids(first), *_pids(second)):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("said", ["", "started"])
async def test_one_that_would_end_again_ends_all_with_its_status(tmp_path: Path, said: str):
    status = 2 if said else 3
    ends = [sys.executable, "-c", f"print({said!r}); raise SystemExit({status})"]
    lives = tmp_path / "lives"
    assert await Processes([_lives(lives), ends]).run() == status
    assert len(_pids(lives)) == 1
    assert await Processes([ends, _lives(tmp_path / "never")]).run() == status
    assert said or not _pids(tmp_path / "never")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--processes", "0"], "x>=1"),
        (["--processes", "2", "--checkers", "none"], "--processes is for checkers"),
        (["--processes", "100"], "http.port 65500 leaves no port for each of 100 processes"),
    ],
)
def test_what_cannot_be_run_is_said(unconfigured: Path, arguments, said):
    ran = assay("worker", *arguments, cwd=unconfigured, ASSAY_HTTP__PORT="65500")
    assert ran.returncode == 2
    assert said in ran.stderr
