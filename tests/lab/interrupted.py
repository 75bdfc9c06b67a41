"""Runs over a file, and those that are killed and go on where they were."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.assay.running import assay, environment
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until


def subject(stub: StubEndpoint) -> dict[str, str]:
    """The subject `acme` behind an endpoint, as the environment has it."""
    return {"ASSAY_SUBJECTS__ACME__BASE_URL": stub.base_url, "ASSAY_SUBJECTS__ACME__MODEL": "m"}


def figures(ran: "subprocess.CompletedProcess[str]") -> dict:
    """What a run with `--json` printed."""
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def killed(command: list[str], stub: StubEndpoint, requests: int, cwd: Path, **variables: str) -> int:
    """Kill a run once the endpoint has seen so many requests; tells how many it saw."""
    stub.delay = 0.05
    with subprocess.Popen(
        [sys.executable, "-m", "assay", *command],
        cwd=cwd,
        env=environment(**variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        wait_until(lambda: len(stub.requests) >= requests)
        process.kill()
    stub.delay = 0
    # As one ends that was being written when its machine failed.
    (file,) = cwd.rglob("*-wal")
    with file.open("ab") as stream:
        stream.write(b"cut sh")
    return len(stub.requests)


def resumed(command: list[str], stub: StubEndpoint, calls: int, cwd: Path, **variables: str) -> dict:
    """The figures of a run with `--out out.jsonl` that is killed and continued; it takes so many calls in all."""
    variables["XDG_CACHE_HOME"] = str(cwd)
    under_way = int(variables["ASSAY_SUBJECTS__ACME__CONCURRENCY"])
    asked = killed([*command, "--out", "out.jsonl"], stub, calls // 4, cwd, **variables)
    assert not (cwd / "out.jsonl").exists()
    ran = assay(*command, "--out", "out.jsonl", "--json", cwd=cwd, **variables)
    found = figures(ran)
    assert int(re.search(r"going on with (\d+) answers", ran.stderr)[1]) >= asked - 2 * under_way
    assert len(stub.requests) <= calls + 2 * under_way
    lines = (cwd / "out.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(1, len(lines) + 1))
    assert not list(cwd.glob("out.jsonl.*"))
    return found
