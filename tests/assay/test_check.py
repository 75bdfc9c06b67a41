"""`assay check`: records in, verdicts out, in order, whatever the lines hold."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from schemas import Verdict
from tests.assay.running import assay, environment, install, install_shouting
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until


def line(number: int, response: str, kind: str = "generation") -> str:
    body = {"sentence1": response, "sentence2": "y", "answer": True} if kind == "paraphrase" else {"response": response}
    return json.dumps({"id": f"r{number}", "kind": kind, "source": "s", "model": "m", **body})


def verdicts(text: str) -> list[dict[str, Any]]:
    return [json.loads(each) for each in text.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Good and bad lines; the later, the shorter, so that the checks end in reverse."""
    lines = [
        line(1, "a" * 40),
        line(2, "b" * 30 + "!"),
        "no record",
        "",
        line(3, "c" * 20, kind="paraphrase"),
        line(4, "crash"),
        json.dumps({"kind": "labelling", "source": "s", "model": "m", "datapoint": 1, "rubric": "r", "label": 1}),
        json.dumps({"kind": "poem"}),
        line(5, "x" * 3000),
        line(6, "d"),
    ]
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    return path


def test_every_record_has_its_verdict_in_order_and_every_bad_line_its_message(tmp_path, site, file):
    ran = assay(
        *("check", file, "--checker", "shouting"),
        cwd=tmp_path,
        site=site,
        ASSAY_SHOUTING__DELAY="0.01",
        ASSAY_RECORDS__MAX_BYTES="2000",
    )
    found = [Verdict.model_validate_json(each) for each in ran.stdout.splitlines()]
    assert [(verdict.record_id[:2], verdict.outcome) for verdict in found] == [
        ("r1", "accept"),
        ("r2", "reject"),
        ("r3", "accept"),
        ("re", "abstain"),
        ("r6", "accept"),
    ]
    assert found[3].reason == "Could not decide: no selected checker checks the kind 'labelling'."
    assert ran.returncode == 3
    assert "line 3: not_json" in ran.stderr
    assert "line 6: shouting failed on record r4: RuntimeError" in ran.stderr
    assert "what the record says" not in ran.stderr
    assert "line 8: unknown_kind: kind 'poem'" in ran.stderr
    assert "line 9: oversized: 30" in ran.stderr
    assert "shouting: accept 3   reject 1   abstain 0" in ran.stderr
    # The checker has no words of its own, and nobody has any for an abstention.
    assert re.search(r"^REJECT   r2 .*\n {9}Heard “b+!”\.\n", ran.stderr, re.MULTILINE)
    assert re.search(
        r"^ABSTAIN  re.*\n {9}Could not decide: no selected checker checks the kind", ran.stderr, re.MULTILINE
    )
    assert not re.search(r"^ACCEPT", ran.stderr, re.MULTILINE)
    assert "none: accept 0   reject 0   abstain 1" in ran.stderr
    assert "4 lines could not be finished" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "\x1b" not in ran.stderr


NOTHING_CHECKED = "Error: nothing was checked: there is no record in the file\n"


@pytest.mark.parametrize(
    ("responses", "asked", "ends"),
    [
        (["a!"], "--fail-on-reject", (1, "")),
        (["a"], "--fail-on-reject", (0, "")),
        (["a", "b", "c!", "d"], "--fail-under=0.75", (0, "")),
        (["a", "b", "c!"], "--fail-under=0.7", (1, "66.7% of 3 decided verdicts accepted, below --fail-under 0.7\n")),
        # What is abstained on is not decided.
        (["a", "", "b!"], "--fail-under=0.5", (0, "")),
        (["", ""], "--fail-under=0", (3, "empty_response 2. The first: Could not decide: there is nothing.\n")),
        ([], "--fail-under=0.5", (3, NOTHING_CHECKED)),
        (["a"], "--fail-under=90", (2, "90.0 is not in the range 0<=x<=1.\n")),
    ],
)
def test_a_share_of_rejections_or_an_empty_file_is_a_failure_where_asked_for(tmp_path, site, responses, asked, ends):
    status, said = ends
    given = "\n".join(line(number, response) for number, response in enumerate(responses)).encode()
    ran = assay("check", "-", "--checker", "shouting", asked, cwd=tmp_path, site=site, stdin=given)
    assert ran.returncode == status
    assert ran.stderr.endswith(said)


def test_ci_gets_a_test_case_for_each_verdict_and_an_error_for_each_that_is_missing(tmp_path, site):
    lines = [line(1, "fine"), line(2, "<HELP> & \ufffe!"), line(3, ""), line(4, "crash"), "no record"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    ran = assay("check", "in.jsonl", "--checker", "shouting", "--junit", "report.xml", cwd=tmp_path, site=site)
    assert ran.returncode == 3
    (suite,) = ET.fromstring((tmp_path / "report.xml").read_bytes())  # noqa: S314 we have just written it
    assert suite.attrib == {"name": "in.jsonl", "tests": "5", "failures": "1", "errors": "2", "skipped": "1"}
    cases = [
        (case.get("classname"), case.get("name"), *((part.tag, part.get("message"), part.text) for part in case))
        for case in suite
    ]
    assert cases[:4] == [
        ("shouting", "r1"),
        ("shouting", "r2", ("failure", "Heard “<HELP> & \ufffd!”.", "Heard “<HELP> & \ufffd!”.")),
        ("shouting", "r3", ("skipped", "Could not decide: there is nothing.", None)),
        ("assay", "line 4", ("error", "shouting failed on record r4: RuntimeError", None)),
    ]
    assert cases[4][:2] == ("assay", "line 5")


def test_a_strict_check_refuses_what_is_nearly_a_known_field(tmp_path, site):
    records = "\n".join(json.dumps(json.loads(line(1, "calm")) | more) for more in ({}, {"context": []}, {"own": 1}))
    arguments = ("check", "-", "--checker", "shouting", "--json")
    lenient = assay(*arguments, cwd=tmp_path, site=site, stdin=records.encode())
    assert (lenient.returncode, len(verdicts(lenient.stdout))) == (0, 3)
    strict = assay(*arguments, "--strict", cwd=tmp_path, site=site, stdin=records.encode())
    assert (strict.returncode, len(verdicts(strict.stdout))) == (3, 2)
    hint = "the record has the unknown field 'context' (did you mean 'contexts'?)"
    assert strict.stderr.splitlines()[0] == f"line 2: invalid_record: {hint}"


def test_ci_does_not_pass_on_a_judge_that_decides_nothing(tmp_path):
    records = [json.loads(line(number, "It left.")) | {"reference": "It left at ten."} for number in range(2)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    with StubEndpoint(script=lambda _: stubs.nonsense()) as stub:
        ran = assay(
            *("check", "in.jsonl", "--checker", "consistency", "--fail-on-reject", "--json"),
            cwd=tmp_path,
            ASSAY_JUDGE__BACKEND="openai",
            ASSAY_JUDGE__BASE_URL=stub.base_url,
            ASSAY_JUDGE__MODEL="stub",
        )
    assert ran.returncode == 3, ran.stderr
    assert "Error: nothing was decided: " in ran.stderr
    assert "judge_unusable 2" in ran.stderr


def test_a_key_that_is_refused_ends_it_at_once(tmp_path):
    # The first needs no judge.
    records = [json.loads(line(0, " "))]
    records += [json.loads(line(number, "It left.")) | {"reference": "It left at ten."} for number in range(1, 300)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    with StubEndpoint(script=lambda _: stubs.status(401, "Incorrect API key provided")) as stub:
        ran = assay(
            *("check", "in.jsonl", "--checker", "consistency"),
            cwd=tmp_path,
            ASSAY_JUDGE__BACKEND="openai",
            ASSAY_JUDGE__BASE_URL=stub.base_url,
            ASSAY_JUDGE__MODEL="stub",
            ASSAY_JUDGE__API_KEY="sk-wrong",
        )
        asked = len(stub.requests)
    assert ran.returncode == 2
    assert {one["record_id"] for one in verdicts(ran.stdout)} <= {"r0"}
    assert "trying for" not in ran.stderr
    assert ran.stderr.endswith(
        "Error: a model refuses whatever it is asked: status 401: Incorrect API key provided; check judge.api_key\n"
    )
    assert asked <= 64


def test_a_check_that_was_killed_asks_nothing_twice(tmp_path):
    records = [json.loads(line(number, f"It left at {number}.")) | {"reference": "It left."} for number in range(40)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    command = ["check", "in.jsonl", "--checker", "consistency", "--out"]
    with StubEndpoint(script=[*[stubs.good()] * 12, *[stubs.hang()] * 50]) as stub:
        judge = {"BACKEND": "openai", "BASE_URL": stub.base_url, "MODEL": "stub", "FORM": "short", "THRESHOLD": "0"}
        variables = {f"ASSAY_JUDGE__{name}": value for name, value in judge.items()}
        command_line = [sys.executable, "-m", "assay", *command, "out.jsonl"]
        with subprocess.Popen(command_line, cwd=tmp_path, env=environment(**variables)) as process:
            wait_until(lambda: len(stub.requests) >= 12 + 8)
            process.kill()
        stub.play(lambda _: stubs.good())
        asked = [len(stub.requests)]
        for out in ("out.jsonl", "at-once.jsonl"):
            ran = assay(*command, out, cwd=tmp_path, **variables)
            assert ran.returncode == 0
            asked.append(len(stub.requests))
            if out == "out.jsonl":
                known = int(re.findall("going on with ([0-9]+) answers that are there", ran.stderr)[0])
    assert known > 0
    assert asked[1] - asked[0] == asked[2] - asked[1] - known
    assert not list(tmp_path.glob("*.answers*"))
    broken, whole = (verdicts((tmp_path / name).read_text("utf-8")) for name in ("out.jsonl", "at-once.jsonl"))
    told = [[(one["id"], one["outcome"], one["usage"]["calls"]) for one in each] for each in (broken, whole)]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek", "in.jsonl"], "No such command 'chek'; did you mean 'check'?"),
        (["check", "missing.jsonl"], "'missing.jsonl' does not exist"),
        (["check", "in.jsonl", "--out", "in.jsonl"], "is the input"),
        (["check", "in.jsonl", "--out", "no/such/folder.jsonl"], "cannot be written: No such file or directory"),
        (["--config", "bad.toml", "check", "in.jsonl"], "judge.backend (in bad.toml) = 'x'"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(tmp_path, arguments, said):
    (tmp_path / "in.jsonl").write_text(line(1, "a"))
    (tmp_path / "bad.toml").write_text("[judge]\nbackend = 'x'")
    ran = assay(*arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert (tmp_path / "in.jsonl").read_text() == line(1, "a")


def start(tmp_path: Path, site: Path, **pipes: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "assay", "check", "-", "--checker", "shouting"],
        cwd=tmp_path,
        env=environment(site),
        # Where the tests run in the background of a shell, Ctrl-C is ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - nothing else runs here yet
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | pipes,
    )


def test_a_slow_producer_sees_each_verdict_at_once_and_ctrl_c_ends_it(tmp_path, site):
    with start(tmp_path, site) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for number in (1, 2):
            process.stdin.write(line(number, "a").encode() + b"\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0], "no verdict while the input is open"
            assert json.loads(process.stdout.readline())["record_id"] == f"r{number}"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert b"Traceback" not in process.stderr.read()


def test_a_reader_that_leaves_ends_it_in_silence(tmp_path, site):
    with start(tmp_path, site) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(line(1, "a").encode() + b"\n")
        process.stdin.close()
        assert process.wait() == 3
        assert process.stderr.read() == b""


LOADING = """
import time

from assay import Checker, CheckerPlugin, CheckerSettings, Decision, Generation
from models.model_loading import ModelThread


class Loading(Checker[CheckerSettings]):
    name = "loading"

    def __init__(self, settings, models):
        super().__init__(settings, models)
        self.model = ModelThread("a large model", lambda: time.sleep(0.5))

    async def decide(self, record: Generation) -> Decision:
        await self.model.model()
        return Decision(accepted=True, reason="Looked.")


PLUGIN = CheckerPlugin(checker=Loading)
"""


def test_a_terminal_gets_a_bar_and_the_summary_which_tells_of_loading_apart(tmp_path):
    site = tmp_path / "site"
    install_shouting(site)
    install(site, module="loading", source=LOADING, entry_points={"loading": "loading:PLUGIN"})
    (tmp_path / "in.jsonl").write_text("\n".join(line(number, "a" * 50) for number in range(20)))
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "assay", "check", "in.jsonl", "--checker", "shouting", "--checker", "loading"]
    variables = environment(site, ASSAY_SHOUTING__DELAY="0.02", TERM="xterm", COLUMNS="80")
    with subprocess.Popen([*command, "--out", "out.jsonl"], cwd=tmp_path, env=variables, stderr=slave) as process:
        os.close(slave)
        shown = _read_to_end(master)
        assert process.wait() == 0
    assert "100%" in shown
    assert "loading a large model" in shown
    assert re.search(r"20 records in \d+\.\d s \(\d+\.\d s of it to load models\), \d+\.\d records a second", shown)
    assert "shouting: accept 20" in shown
    assert len(verdicts((tmp_path / "out.jsonl").read_text("utf-8"))) == 40


def _read_to_end(terminal: int) -> str:
    shown = b""
    # Reading fails once nobody writes any more.
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 4096):
            shown += chunk
    os.close(terminal)
    return shown.decode("utf-8", "replace")
