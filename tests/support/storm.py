"""Faults by the dozen, several at once, on all that a deployment has: brokers, workers, followers, judge, clocks.

Everything is drawn from a seed.
"""

import asyncio
import random
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import KafkaException, Producer

from agents.routing import RoutingSettings
from streams.settings import StreamSettings
from tests.support.clock import clocks_can_jump, make_clocks_shiftable
from tests.support.cluster import NODES, TOPICS, KafkaCluster
from tests.support.ledger import Ledger, committed, read_ledger
from tests.support.members import Member
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.stub_acts import good, nonsense
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import record

_SESSION_SECONDS = 6.0
_WATCH_SECONDS = 1.0
_DRAIN_PATIENCE_SECONDS = 900.0

ROUTING = {"rules": [{"sources": ["unwatched"], "share": 0.5}]}


class Kind(NamedTuple):
    """A kind of fault: on whom, how often among others, and for how long."""

    lane: str
    """Faults in one lane never overlap: a member, the brokers, the judge, the clocks."""
    weight: float
    seconds: tuple[float, float]
    begin: str
    """What is done to whom it meets, and what ends it."""
    end: str


_FROZEN = (_SESSION_SECONDS + 1, _SESSION_SECONDS + 4)

KINDS: Mapping[str, Kind] = {
    "worker killed": Kind("worker", 18, (0, 1.5), "kill", "start"),
    "worker frozen beyond its session": Kind("worker", 7, _FROZEN, "freeze", "thaw"),
    "worker restarted in order": Kind("worker", 6, (0, 1), "terminate", "start"),
    "worker joins and leaves": Kind("extra worker", 7, (3, 8), "start", "terminate"),
    "monitor killed": Kind("monitor", 10, (0, 1.5), "kill", "start"),
    "monitor frozen beyond its session": Kind("monitor", 4, _FROZEN, "freeze", "thaw"),
    "archivist killed": Kind("archivist", 10, (0, 1.5), "kill", "start"),
    "archivist's disk full": Kind("archivist", 7, (2, 6), "fill_disk", "empty_disk"),
    "broker killed": Kind("brokers", 4, (1, 5), "kill", "start"),
    # The others notice after six seconds.
    "broker frozen": Kind("brokers", 4, (5, 12), "freeze", "thaw"),
    "broker cut off": Kind("brokers", 4, (5, 12), "cut_off", "heal"),
    "broker stopped in order": Kind("brokers", 2, (1, 5), "stop", "start"),
    "judge slow": Kind("judge", 4, (3, 8), "slow", "well"),
    "judge down": Kind("judge", 4, (2, 6), "down", "up"),
    "judge talks rubbish": Kind("judge", 3, (2, 5), "rubbish", "well"),
    "clock jumps": Kind("clocks", 6, (2, 8), "jump", "set right"),
}


class Fault(NamedTuple):
    kind: str
    gap: float
    """Seconds after the one before it."""
    seconds: float
    pick: float
    """Between 0 and 1: on which of several, and by how much a clock jumps."""


LANES = ("worker", "extra worker", "monitor", "archivist", "brokers", "judge", "clocks")


def plan(
    seed: int, faults: int, gap: float, lanes: Collection[str] = LANES, without: Collection[str] = ()
) -> list[Fault]:
    """So many faults in these lanes, on average `gap` seconds apart; none of clocks where they cannot be set wrong."""
    rng = random.Random(seed)
    left_out = {*without} if clocks_can_jump() else {*without, "clock jumps"}
    kinds = [kind for kind, each in KINDS.items() if each.lane in lanes and kind not in left_out]
    weights = [KINDS[kind].weight for kind in kinds]
    drawn = rng.choices(kinds, weights, k=faults)
    return [Fault(kind, rng.expovariate(1 / gap), rng.uniform(*KINDS[kind].seconds), rng.random()) for kind in drawn]


class Traffic:
    """Sends records at a rate, from a thread of its own, until it is told to stop; the rate may be changed."""

    def __init__(self, servers: str, topic: str, rate: float, make: Callable[[int], bytes], partitions: int) -> None:
        self.rate = rate
        self.acknowledged = 0
        self._make, self._topic, self._partitions = make, topic, partitions
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "linger.ms": 5,
                # As long as it takes: what is lost is not to be lost here.
                "message.timeout.ms": 0,
                "queue.buffering.max.messages": 5_000_000,
                "queue.buffering.max.kbytes": 2_000_000,
                "log_level": 0,
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True, name="traffic")
        self._thread.start()

    def stop(self) -> int:
        """Send no more; how many messages the brokers acknowledged, once all are."""
        self._stop.set()
        self._thread.join()
        while self._producer.flush(10):
            pass
        return self.acknowledged

    def _send(self) -> None:
        number, due = 0, 0.0
        last = time.monotonic()
        while not self._stop.wait(0.01):
            now = time.monotonic()
            due += self.rate * (now - last)
            last = now
            while number < due:
                self._producer.produce(
                    self._topic, self._make(number), partition=number % self._partitions, on_delivery=self._delivered
                )
                number += 1
            self._producer.poll(0)

    def _delivered(self, error: object, _: object) -> None:
        # Where the broker refuses one for good, a record less is acknowledged, and the ledger shows none missing.
        self.acknowledged += error is None


class Storm:
    """All members of a deployment on three brokers, and the faults that they meet."""

    def __init__(
        self,
        folder: Path,
        faults: Sequence[Fault],
        *,
        rate: float,
        partitions: int = 6,
        checker: Mapping[str, Any] | None = None,
        archives: bool = True,
        seconds: float | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`rate`: records a second. `checker`: specification of the workers' checker; without one it asks the judge.

        `archives`: whether there is an archivist. `seconds`: after which no fault begins. `tell` is told of progress.
        """
        self.folder = folder
        self.done: list[tuple[str, float | None]] = []
        """Faults that are over: their kind, and the seconds from its end until whom it met was well again, or None
        where that shows in the records alone."""
        self.sent = self.most_lag = 0
        self.longest_stall = self.seconds = 0.0
        self.ended: dict[str, dict[int, int]] = {}
        """By member: statuses with which it ended by itself, and how often."""
        self._plan = faults
        self.members: dict[str, Member] = {}
        self._tell = tell
        self._rate, self._partitions = rate, partitions
        self._checker, self._longest = checker, seconds
        kinds = {fault.kind for fault in faults}
        if "clock jumps" in kinds:
            make_clocks_shiftable(folder)
        self.cluster = KafkaCluster(folder / "kafka", cuttable="broker cut off" in kinds)
        self.judge = StubEndpoint(delay=0.02)
        self.store = f"sqlite:///{folder}/verdicts.db" if archives else None
        self._keeping = threading.Lock()
        self._over = threading.Event()
        self.drained_after = 0.0
        """Seconds from the last record until none waited."""
        self.place = Place(self.cluster.bootstrap_servers, "storm", folder)
        self.settings = StreamSettings.model_validate(self._raw())
        self.name = "consistency" if checker is None else str(checker["type"])

    def _raw(self, instance_id: str | None = None) -> dict[str, Any]:
        given = {"partitions": self._partitions, "session_seconds": _SESSION_SECONDS, "instance_id": instance_id}
        raw = self.place.settings(**given)
        return raw | {"topics": raw["topics"] | TOPICS}

    def _member(self, name: str, agents: list[dict[str, Any]], instance_id: str | None = None) -> Member:
        self.members[name] = Member(name, agents, self._raw(instance_id), self.folder)
        return self.members[name]

    def _cast(self) -> None:
        asking = {"type": "asking", "checker": "consistency", "base_url": self.judge.base_url}
        checker = dict(self._checker or asking) | {"answers": True, "routing": ROUTING}
        # One keeps its partitions over a restart, the other hands them round.
        self._workers = [
            self._member("worker-0", [checker], instance_id="worker-0"),
            self._member("worker-1", [checker]),
        ]
        self._extra = Member("worker-2", [checker], self._raw(), self.folder)
        self._member("monitor", [{"type": "monitor", "flush_seconds": 1.0}], instance_id="monitor")
        if self.store is not None:
            self._member("archivist", [{"type": "archivist", "url": self.store}], instance_id="archivist")

    def run(self) -> Ledger:
        """Do as planned, let all recover, and account for every record."""
        begun = time.monotonic()
        with ExitStack() as stack:
            stack.enter_context(self.cluster)
            stack.enter_context(self.judge)
            self.place.prepare(self._raw())
            self._cast()
            for member in self.members.values():
                member.start()
                stack.callback(member.kill)
            stack.callback(self._extra.kill)
            watching = threading.Thread(target=self._watch, daemon=True)
            watching.start()
            stack.callback(self._over.set)
            for member in self.members.values():
                member.wait_ready()
            servers, outputs = self.cluster.bootstrap_servers, self.settings.topics.outputs
            traffic = Traffic(servers, outputs, self._rate, message, self._partitions)
            try:
                self.before(traffic)
                self._play()
                self.after(traffic)
            finally:
                self.sent = traffic.stop()
                last = time.monotonic()
            self._drain()
            self.drained_after = time.monotonic() - last
            self._over.set()
            watching.join()
            for member in self.members.values():
                member.terminate()
            self.seconds = time.monotonic() - begun
            self.ended = {name: dict(member.ended) for name, member in self.members.items() if member.ended}
            stored = Stored(self.store) if self.store else None
            if stored is not None:
                stack.callback(stored.close)
            routing = RoutingSettings.model_validate(ROUTING)
            return asyncio.run(
                read_ledger(self.settings, checker=self.name, routing=routing, sent=self.sent, stored=stored)
            )

    def before(self, traffic: Traffic) -> None:
        """Whatever is to be done while records come, before the first fault."""

    def after(self, traffic: Traffic) -> None:
        """And after the last."""

    def _play(self) -> None:
        """Let each lane meet its faults when they are due, or as soon as it is well again."""
        lanes = defaultdict[str, list[tuple[float, Fault]]](list)
        due = time.monotonic()
        for fault in self._plan:
            due += fault.gap
            lanes[self._lane(fault)].append((due, fault))
        deadline = time.monotonic() + (self._longest or float("inf"))
        over = threading.Event()

        def play(lane: list[tuple[float, Fault]]) -> None:
            for at, fault in lane:
                if max(at, time.monotonic()) > deadline or over.wait(max(0.0, at - time.monotonic())):
                    return
                self._meet(fault)

        with ThreadPoolExecutor(max(1, len(lanes))) as pool:
            try:
                playing = [pool.submit(play, lane) for lane in lanes.values()]
                wait(playing, return_when=FIRST_EXCEPTION)
            finally:
                over.set()
            for each in playing:
                each.result()

    def _lane(self, fault: Fault) -> str:
        """The name of the member that it meets, or of the lane."""
        lane = KINDS[fault.kind].lane
        return self._workers[int(fault.pick * len(self._workers))].name if lane == "worker" else lane

    def _meet(self, fault: Fault) -> None:
        kind = KINDS[fault.kind]
        self._do(kind.begin, fault)
        time.sleep(fault.seconds)
        self._do(kind.end, fault)
        ended, recovered = time.monotonic(), None
        if kind.lane not in ("extra worker", "judge"):
            well = self.cluster.wait_whole() if kind.lane == "brokers" else self._met(fault).wait_ready()
            recovered = round(time.monotonic() - ended, 2)
            if not well:
                self._tell(f"{fault.kind}: not well again after {recovered:.0f} s")
        with self._keeping:
            self.done.append((fault.kind, recovered))
            if len(self.done) % 10 == 0:
                self._tell(f"{len(self.done)} of {len(self._plan)} faults")

    def _met(self, fault: Fault) -> Member:
        """The member that a fault meets; a clock's may be anybody's."""
        anyone = [*self.members.values()]
        if KINDS[fault.kind].lane == "clocks":
            return anyone[int(fault.pick * len(anyone))]
        return self.members.get(self._lane(fault), self._extra)

    def _do(self, what: str, fault: Fault) -> None:
        match KINDS[fault.kind].lane:
            case "brokers":
                getattr(self.cluster, what)(NODES[int(fault.pick * len(NODES))])
            case "judge" if what in ("down", "up"):
                getattr(self.judge, what)()
            case "judge":
                self.judge.play({"slow": lambda _: good(delay=3.0), "rubbish": lambda _: nonsense(), "well": ()}[what])
            case "clocks":
                # Brokers refuse messages that are stamped more than an hour ahead.
                jump = random.Random(fault.pick).randint(-3000, 3000)
                self._met(fault).shift_clock(jump if what == "jump" else 0)
            case _:
                getattr(self._met(fault), what)()

    def _groups(self) -> Iterator[tuple[str, Sequence[str]]]:
        topics, prefix = self.settings.topics, self.settings.topics.prefix
        yield f"{prefix}.{self.name}", [topics.outputs]
        yield f"{prefix}.trust-monitor", [topics.outcomes]
        if self.store:
            verdicts = [topics.accepted, topics.rejected, topics.abstained]
            yield f"{prefix}.archivist", [*verdicts, topics.alerts, topics.improved, topics.dead_letter]

    def _watch(self) -> None:
        """Start members again that have ended by themselves, and see how far the records have come."""
        moved, at = -1, time.monotonic()
        while not self._over.wait(_WATCH_SECONDS):
            for member in [*self.members.values()]:
                member.look()
            if (progress := self.progress()) is not None:
                finished, behind = progress
                self.most_lag = max(self.most_lag, behind)
                if finished != moved or not behind:
                    moved, at = finished, time.monotonic()
                self.longest_stall = max(self.longest_stall, round(time.monotonic() - at, 1))

    def progress(self) -> tuple[int, int] | None:
        """Records that the checker's group has finished, and that wait; None if the brokers do not say."""
        outputs = self.settings.topics.outputs
        with suppress(KafkaException):
            offsets, behind = committed(self.settings, f"{self.settings.topics.prefix}.{self.name}", [outputs])
            return sum(offsets.values()), behind
        return None

    def _drain(self) -> None:
        deadline = time.monotonic() + _DRAIN_PATIENCE_SECONDS
        for group, topics in self._groups():
            while time.monotonic() < deadline:
                with suppress(KafkaException):
                    if not committed(self.settings, group, topics)[1]:
                        break
                time.sleep(0.2)


def message(number: int) -> bytes:
    """A record, or none: 1 in 100 cannot be read; of 1 in 20 every second is left out; 1 in 10 is rejected."""
    if number % 100 == 99:
        return b'{"kind": "generation", "response": %d' % number
    text = f"Parcel {number} arrives on Wednesday before noon."
    told = f"Parcel {number} arrives by aeroplane." if number % 10 == 3 else text
    source = "unwatched" if number % 20 == 7 else f"app-{number % 7}"
    return record(
        number,
        source=source,
        model=f"m{number % 3}",
        response=told,
        reference=text,
        occurred_at=datetime.now(UTC).isoformat(),
    )


def by_kind(done: Sequence[tuple[str, float | None]]) -> list[list[object]]:
    """Of each kind: how many, and the median and longest time until whoever it met was well again."""
    rows: list[list[object]] = []
    for kind in sorted({kind for kind, _ in done}):
        times = [recovered for name, recovered in done if name == kind and recovered is not None]
        longest = (round(of(times), 1) if times else None for of in (statistics.median, max))
        rows.append([kind, sum(name == kind for name, _ in done), *longest])
    return rows
