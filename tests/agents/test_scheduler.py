"""Sources make one record of a subject an interval; several processes are kept running as one."""

import asyncio
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.processes import Processes
from agents.scheduler import Scheduler
from schemas import Generation
from streams.topics import create_topics
from tests.assay.running import assay
from tests.support.scenarios import Place
from tests.support.scheduled import Counting, made
from tests.support.waiting import until
from tests.support.workers import agents_here


def numbers(records: list[Generation], model: str = "m") -> list[int]:
    """The numbers of a subject's records, sorted: they are spread over the partitions, and read in any order."""
    named = (record.response.split() for record in records)
    return sorted(int(number) for name, number in named if name == model)


class TestOnKafka:
    @pytest.fixture
    async def raw(self, place: Place) -> dict[str, Any]:
        raw = place.settings(partitions=4)
        await create_topics(place.checked(partitions=4))
        return raw

    async def test_every_subject_is_asked_once_an_interval_by_the_clock(self, place: Place, raw: dict[str, Any]):
        source = Counting(("one", "other", "third"), seconds_between=0.1)
        begun = time.time()
        async with agents_here([partial(Scheduler, source)], raw) as worker:
            for model in source.models:
                await worker.wait_for("assay_scheduled_records_total", 4, agent="counting", model=model)
        ended = time.time()
        records = await made(place.checked(), 12)
        for model in source.models:
            found = numbers(records, model)
            assert len(found) >= 4
            assert len(found) == len(set(found))
            assert begun / 0.1 - 1 < found[0] <= found[-1] <= ended / 0.1
        assert len({record.id for record in records}) == len(records)

    async def test_a_restart_and_a_second_worker_make_the_same_ids(self, place: Place, raw: dict[str, Any]):
        for _ in range(2):
            async with (
                agents_here([partial(Scheduler, Counting(seconds_between=0.1))], raw) as one,
                agents_here([partial(Scheduler, Counting(seconds_between=0.1))], raw) as other,
            ):
                for worker in (one, other):
                    await worker.wait_for("assay_scheduled_records_total", 3, agent="counting", model="m")
        records = await made(place.checked(), 12)
        by_number = {record.response: record.id for record in records}
        assert len(by_number) < len(records), "both asked for some intervals"
        assert all(record.id == by_number[record.response] for record in records)
        assert len(set(by_number.values())) == len(by_number)

    async def test_intervals_in_which_a_subject_was_away_are_left_out(self, place: Place, raw: dict[str, Any]):
        source = Counting()
        source.away = 3
        async with agents_here([partial(Scheduler, source)], raw) as worker:
            await worker.wait_for("assay_records_held", 1, agent="counting")
            await worker.wait_for("assay_scheduled_records_total", 3, agent="counting", model="m")
            assert worker.metric("assay_records_held", agent="counting") == 0
        asked = [number for _, number in source.asked]
        assert asked == sorted(set(asked))
        assert numbers(await made(place.checked(), 3))[0] == asked[3]


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
