"""`assay worker --processes`: so many members of a group, each with its port and static id, ended as one."""

import asyncio
import copy
import json
import signal
from pathlib import Path

import psutil
import pytest

from tests.assay.running import assay_process, environment, install_shouting, servers
from tests.support.scenarios import Place
from tests.support.service import RunningService, running_worker
from tests.support.traffic import collect, put, record
from tests.support.waiting import wait_until

OPTIONS = ("--checkers", "shouting", "--agents", "none")


def _logged(service: RunningService, **wanted: object) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
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
    properties = '{"session.timeout.ms": 6000, "group.instance.id": "here"}'
    variables = environment(site, ASSAY_KAFKA__PROPERTIES=properties, **servers(place))
    with running_worker(tmp_path, "--processes", "2", *OPTIONS, environment=variables) as first:
        second = copy.copy(first)
        second.port += 1
        for each in (first, second):
            each.wait_ready()
        stays, dies = sorted(psutil.Process(first.process.pid).children(), key=lambda each: each.create_time())
        dies.kill()
        wait_until(lambda: _logged(first, event="process ended", process=1, status=128 + signal.SIGKILL))
        wait_until(lambda: len(_logged(first, event="worker started", process=1, port=second.port)) == 2)
        for each in (first, second):
            each.wait_ready()
        asyncio.run(put(place.servers, settings.topics.outputs, map(record, range(200)), spread=True))
        seen = asyncio.run(collect(place.servers, settings.topics, records=200))
        assert len(seen.verdicts) == 200
        shares = lambda: [each.metric("assay_verdicts_total") for each in (first, second)]  # noqa: E731
        # A verdict is counted once its delivery is acknowledged, so it can be read before it is counted.
        wait_until(lambda: sum(shares()) == 200, lambda: f"{shares()} of 200 verdicts counted")
        assert all(shares())
        processes = [stays, *psutil.Process(first.process.pid).children()]
        first.process.send_signal(end)
        assert first.process.wait() == (0 if end == signal.SIGTERM else -signal.SIGKILL)
        wait_until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes))
        assert {line["process"] for line in _logged(first, event="worker stopped")} == {0, 1}


def test_what_keeps_a_worker_from_starting_is_told_once(place: Place, site: Path, tmp_path: Path):
    variables = {"PYTHONPATH": environment(site)["PYTHONPATH"], **servers(place)}
    ran = assay_process("worker", "--processes", "3", *OPTIONS, cwd=tmp_path, **variables)
    assert ran.returncode == 3
    assert ran.stderr.count(f"no topic {place.prefix}.outputs") == 1
