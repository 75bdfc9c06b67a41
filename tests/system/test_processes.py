"""`assay worker --processes`: so many members of a group, each with its port and static id, ended as one."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from tests.assay.running import environment, install_shouting, servers
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import collect, put, record
from tests.support.waiting import wait_until


def _ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _logged(log: Path, **wanted: object) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if wanted.items() <= line.items()]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    install_shouting(tmp_path / "site")
    return tmp_path / "site"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_each_process_is_a_member_one_that_dies_comes_back_and_all_end_together(
    place: Place, site: Path, tmp_path: Path, end: signal.Signals
):
    settings = place.prepare(place.settings(partitions=4))
    port = free_port()
    variables = servers(place) | {
        "ASSAY_HTTP__PORT": str(port),
        "ASSAY_KAFKA__PROPERTIES": '{"session.timeout.ms": 6000, "group.instance.id": "here"}',
    }
    log = tmp_path / "worker.log"
    command = [
        sys.executable,
        "-m",
        "assay",
        "worker",
        "--processes",
        "2",
        "--checkers",
        "shouting",
        "--agents",
        "none",
    ]
    with (
        log.open("wb") as out,
        subprocess.Popen(command, cwd=tmp_path, env=environment(site, **variables), stdout=out, stderr=out) as worker,
    ):
        try:
            wait_until(lambda: _ready(port) and _ready(port + 1), log.read_text)
            first, second = processes = sorted(
                psutil.Process(worker.pid).children(), key=lambda each: each.create_time()
            )
            second.kill()
            wait_until(lambda: _logged(log, event="process ended", process=1, status=128 + signal.SIGKILL))
            wait_until(lambda: len(_logged(log, event="worker started", process=1, port=port + 1)) == 2)
            wait_until(lambda: _ready(port) and _ready(port + 1), log.read_text)
            asyncio.run(put(place.servers, settings.topics.outputs, map(record, range(200)), spread=True))
            seen = asyncio.run(collect(place.servers, settings.topics, records=200))
            assert len(seen.verdicts) == 200
            shares = [_verdicts(port + number) for number in range(2)]
            assert all(shares)
            assert sum(shares) == 200
            processes = [first, *psutil.Process(worker.pid).children()]
            worker.send_signal(end)
            assert worker.wait() == (0 if end == signal.SIGTERM else -signal.SIGKILL)
            wait_until(
                lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes)
            )
            assert {line["process"] for line in _logged(log, event="worker stopped")} == {0, 1}
        finally:
            worker.kill()


def _verdicts(port: int) -> int:
    lines = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text.splitlines()
    return int(sum(float(line.split()[-1]) for line in lines if line.startswith("assay_verdicts_total{")))


def test_what_keeps_a_worker_from_starting_is_told_once(place: Place, site: Path, tmp_path: Path):
    ran = subprocess.run(
        [sys.executable, "-m", "assay", "worker", "--processes", "3", "--checkers", "shouting", "--agents", "none"],
        cwd=tmp_path,
        env=environment(site, **servers(place)),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 3
    assert ran.stderr.count(f"no topic {place.prefix}.outputs") == 1
