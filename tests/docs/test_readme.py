"""Every command of README.md runs as it is written, and shows what README says that it shows."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.assay.running import assay, environment
from tests.support.ports import PLAIN
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


COMMANDS = [line.partition(" #")[0].strip() for block in blocks("sh") for line in block.splitlines()]
DEMO, ALERTS, *SENT = [each for each in COMMANDS if re.search("demo --|alerts|model_update", each)]
JUDGE = [each for each in COMMANDS if "JUDGE" in each or "judge check" in each]
FILES = [each for each in COMMANDS if re.search("assay (check|compare v)", each)]
MAKE = [each for each in COMMANDS if each.startswith("make ")]
COMPOSE = "docker compose up --build --wait"
KAFKA = [each for each in COMMANDS if each not in {DEMO, ALERTS, *SENT, *JUDGE, *FILES, *MAKE, COMPOSE}]
ENVIRONMENT = environment() | {"NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder in which README's commands find what they name."""
    program = tmp_path / ".venv" / "bin" / "assay"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m assay "$@"\n')
    program.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def run(clone: Path, *commands: str, status: int = 0, **variables: str) -> str:
    """Run the lines to their end; returns what was printed. Commands of assay run in this process, which is quicker."""
    shown = ""
    for command in commands:
        name, *arguments = shlex.split(command)
        if name == "export":
            variables |= dict([arguments[0].split("=", 1)])
        else:
            assert name == ".venv/bin/assay"
            ran = assay(*arguments, cwd=clone, **{"XDG_CACHE_HOME": str(clone)} | variables)
            assert ran.returncode == status, ran.stdout + ran.stderr
            shown += ran.stdout + ran.stderr
    return shown


@contextmanager
def started(clone: Path, command: str, **variables: str) -> Iterator[Path]:
    """Run a command that stays; yields the file with what it printed so far."""
    printed = clone / "printed" / command.replace("/", "_").replace(" ", "_")
    printed.parent.mkdir(exist_ok=True)
    with (
        printed.open("wb") as out,
        subprocess.Popen(
            ["bash", "-c", f"exec {command}"], cwd=clone, env=ENVIRONMENT | variables, stdout=out, stderr=out
        ) as process,
    ):
        try:
            yield printed
            process.terminate()
            process.wait(60)
        finally:
            process.kill()


def form(alert: str) -> str:
    """An alert in one line, without what differs from one run to the next."""
    alert = re.sub(r"\S+T[\d:]+Z|alert-\w+|[A-Z]\w+day at", "…", " ".join(alert.split()))
    return re.sub(r"(?<![\w.])\d[\d.:]*", "#", alert)


def test_no_block_holds_another_kind_of_command():
    kinds = set(re.findall(r"^```(\w+)$", README, re.MULTILINE))
    assert kinds == {"sh", "toml", "json", "python"}
    assert len(README.split()) <= 1200
    assert len(blocks("json")) == len(blocks("python")) == 1, "test_documents.py and test_python_guide.py run them"


@pytest.mark.parametrize("command", MAKE)
def test_make_does_what_readme_says(command: str):
    program = {"make demo": "assay demo", "make test": "pytest"}[command]
    shown = subprocess.run(
        ["make", "--dry-run", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert program in shown.stdout


def test_the_demo_ends_in_the_alert_that_readme_shows(clone: Path):
    (shown,) = re.findall(r"^```\n(TRUST DROP.*?)^```", README, re.DOTALL | re.MULTILINE)
    with started(clone, DEMO) as demo:
        (export,) = wait_until(lambda: re.findall(r"(export ASSAY_KAFKA__BOOTSTRAP_SERVERS=\S+)", demo.read_text()))
        name, _, servers = export.removeprefix("export ").partition("=")
        with started(clone, ALERTS, **{name: servers}) as alerts:
            for command, judged in zip(SENT, (150, 240), strict=True):
                subprocess.run(["bash", "-c", f"{export}\n{command}"], cwd=clone, env=ENVIRONMENT, check=True)
                wait_until(lambda n=judged: len(re.findall(r"^[A-Z]+ +orders-", demo.read_text(), re.MULTILINE)) >= n)
            wait_until(lambda: "fault:" in alerts.read_text())
            seen = alerts.read_text()
        (page,) = re.findall(r"page +(http://127.0.0.1:\d+)/", demo.read_text())
        address = wait_until(
            lambda: re.search(r'class="banner".*?href="(/alerts/[^"]+)"', httpx.get(page, verify=PLAIN).text, re.DOTALL)
        )
        # The alert's own page lists the outputs that caused it.
        assert re.search(r'<a href="/verdicts/[^"]+">.*not consistent', httpx.get(page + address[1], verify=PLAIN).text)
    drop, _, rejected = seen[seen.index("TRUST DROP") :].partition("REJECT")
    assert form(drop) == form(shown.partition("REJECT")[0])
    assert re.match(r" +orders-\d+ +0\.\d+ +\S+Z\n +says: +“.+\n( {9}.+\n)*? +fault: +", rejected)
    assert "stopping the worker" in demo.read_text()


def test_your_own_model_is_measured_before_it_judges(clone: Path):
    (clone / "assay.toml").write_text(next(each for each in blocks("toml") if "[judge]" in each), "utf-8")
    with StubEndpoint() as stub:
        # This one compares words only, and is right too seldom to be relied on.
        assert "do not rely on its verdicts" in run(clone, *JUDGE, status=1, ASSAY_JUDGE__BASE_URL=stub.base_url)
        assert {request.headers["authorization"] for request in stub.requests} == {"Bearer ..."}


def test_files_are_checked_and_compared(clone: Path):
    run(clone, *FILES)
    verdicts = (clone / "verdicts.jsonl").read_text("utf-8").splitlines()
    assert len(verdicts) == len((ROOT / "examples" / "records.jsonl").read_text("utf-8").splitlines())
    assert (clone / "verdicts.xml").read_text("utf-8").startswith("<?xml")


def test_the_service_runs_on_a_kafka_of_yours(clone: Path, embedded_place: Place):
    (clone / "assay.toml").write_text(next(each for each in blocks("toml") if "[store]" in each), "utf-8")
    where = {"ASSAY_TOPICS__PREFIX": embedded_place.prefix, "ASSAY_HTTP__PORT": "0"}
    export, create, worker, send, *shown, ui = KAFKA
    export = export.replace("localhost:9092", embedded_place.servers)
    where["ASSAY_KAFKA__BOOTSTRAP_SERVERS"] = embedded_place.servers
    run(clone, export, create, **where)
    with started(clone, worker, **where):
        run(clone, export, send, **where)
        wait_until(lambda: "sup-02" in assay(*shlex.split(shown[0])[1:], cwd=clone, **where).stdout)
        for command in shown:
            assert run(clone, export, command, **where)
        with started(clone, f"{ui} --port 0", **where) as printed:
            (address,) = wait_until(lambda: re.findall(r"http://127.0.0.1:\d+/?", printed.read_text()))
            assert wait_until(lambda: "support-bot" in httpx.get(address, verify=PLAIN).text)
