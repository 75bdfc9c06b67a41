"""Three Apache Kafka brokers that form a cluster, any of which can be killed, stopped, frozen or cut off."""

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from aiokafka.errors import KafkaError

from tests.support.kafka import KafkaBroker, Seat, described, wait_until_ready
from tests.support.ports import free_ports
from tests.support.proxy import Proxies

NODES = (1, 2, 3)

_LOOK_SECONDS = 0.2

WELL_SECONDS = 300.0
"""Whoever met a fault is not well again if it takes longer than that, however busy the machine is."""

TOPICS: dict[str, Any] = {"replication": 3}
"""Settings of topics that outlive one node."""


class KafkaCluster:
    """Three nodes of 256 MB, each broker and controller, behind ports by which a node can be cut off."""

    def __init__(self, folder: Path, *, cuttable: bool = True) -> None:
        """Unless it is `cuttable`, no proxy is between clients and brokers."""
        # Of each node: the broker's own port, the one that others are sent to, and the same of the controller.
        drawn = free_ports(4 * len(NODES))
        seats = [drawn[at : at + 4] for at in range(0, len(drawn), 4)]
        own = dict(zip(NODES, seats if cuttable else [[a, a, c, c] for a, _, c, _ in seats], strict=True))
        voters = ",".join(f"{node}@127.0.0.1:{each[3]}" for node, each in own.items())
        self.brokers = {
            node: KafkaBroker(
                folder / f"broker-{node}", seat=Seat(node, port, advertised, controller, voter, voters, len(NODES))
            )
            for node, (port, advertised, controller, voter) in own.items()
        }
        forwarded: dict[int, tuple[int, int]] = {}
        for node, (port, advertised, controller, voter) in own.items():
            forwarded |= {advertised: (node, port), voter: (node, controller)} if advertised != port else {}
        self._proxies = Proxies(forwarded, lambda node: self.brokers[node].pid)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.bootstrap_servers for broker in self.brokers.values())

    def __enter__(self) -> Self:
        self._proxies.__enter__()
        for node in NODES:
            self.start(node)
        asyncio.run(wait_until_ready(self.bootstrap_servers))
        assert self.wait_whole()
        return self

    def __exit__(self, *_: object) -> None:
        for node, broker in self.brokers.items():
            self.thaw(node)
            broker.kill()
        self._proxies.__exit__()

    def kill(self, node: int) -> None:
        self.brokers[node].kill()

    def stop(self, node: int) -> None:
        self.brokers[node].stop()

    def start(self, node: int) -> None:
        self.brokers[node].launch()

    def freeze(self, node: int) -> None:
        """SIGSTOP: connections stand, and nothing is answered."""
        self._signal(node, signal.SIGSTOP)

    def thaw(self, node: int) -> None:
        self._signal(node, signal.SIGCONT)

    def cut_off(self, node: int) -> None:
        """Carry nothing between it and the others, or clients."""
        self._proxies.cut(node)

    def heal(self, _: int | None = None) -> None:
        self._proxies.cut(None)

    def wait_whole(self) -> bool:
        """Wait until all nodes are there and all replicas in sync; false if it does not come to that."""

        async def whole() -> bool:
            with contextlib.suppress(KafkaError, OSError):
                there, partitions = await described(self.bootstrap_servers)
                return there == set(NODES) and all(len(each["isr"]) == len(each["replicas"]) for each in partitions)
            return False

        deadline = time.monotonic() + WELL_SECONDS
        while not asyncio.run(whole()):
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def condition(self) -> str:
        """Of each node whether its process runs, and the end of its log: what an assertion says."""
        logs = {node: (broker.folder / "broker.log").read_text()[-3000:] for node, broker in self.brokers.items()}
        return "\n".join(f"node {node}: {self.brokers[node].state()}\n{log}" for node, log in logs.items())

    def _signal(self, node: int, number: signal.Signals) -> None:
        if (process := self.brokers[node].pid) is not None:
            os.kill(process, number)


@contextlib.contextmanager
def running_cluster() -> Iterator[KafkaCluster]:
    """A cluster for as long as the context lasts, its logs in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="assay-kafka-") as folder, KafkaCluster(Path(folder)) as cluster:
        yield cluster
