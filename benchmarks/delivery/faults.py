"""Faults on three brokers: a thousand of all kinds, and the highest rate with kills and the loss of a broker."""

import shutil
import tempfile
import time
from datetime import datetime
from pathlib import Path

import orjson
from confluent_kafka import OFFSET_END, Consumer, TopicPartition

from benchmarks.tables import table
from tests.support.ledger import Ledger
from tests.support.storm import Storm, Traffic, by_kind, plan

_GAP_SECONDS = 2.3
_RATE = 60.0
"""Records a second under all faults: a worker that comes back begins with as many questions to the judge as it may."""

_SUSTAINED_GAP_SECONDS = 6.0
_SUSTAINED_LANES = ("worker", "extra worker", "monitor", "brokers")
_SHARE = 0.25
"""Share of two workers' backlog pace: one of the two is often away, what waited then is to be caught up with, and
here the sender has to share the machine with them. At six tenths what waited did not come back."""

_FILL_RATE = 20_000.0
_FILL_SECONDS = 15.0
_COMMIT_SECONDS = 2.0
_HALF_LOAD_SECONDS = 20.0
_BURST_SECONDS = 60.0
_LOOK_SECONDS = 0.2
_FEW = 100
"""Records that wait at any time, as offsets are committed twice a second."""


def endure(faults: int, seed: int) -> bool:
    """Let so many faults happen, print what became of every record, and whether that is as promised."""
    folder = Path(tempfile.mkdtemp(prefix="assay-faults-"))
    storm = Storm(folder, plan(seed, faults, _GAP_SECONDS), rate=_RATE, tell=_tell)
    ledger = storm.run()
    minutes = storm.seconds / 60
    print(f"{len(storm.done)} faults in {minutes:.0f} minutes, {storm.sent:,} messages sent; logs in {folder}\n")
    print(table(["fault", "times", "well again after (s, median)", "(longest)"], by_kind(storm.done)))
    print()
    _print(ledger, storm)
    if ledger.kept:
        shutil.rmtree(folder)
    return ledger.kept


def sustain(minutes: float, seed: int, rate: float | None) -> bool:
    """Send at the highest rate that this machine holds while workers and brokers are lost, then ten times as much.

    Prints what became of every record, and returns whether that is as promised, and the backlogs were gone in the end.
    """
    seconds = minutes * 60
    faults = plan(seed, int(seconds), _SUSTAINED_GAP_SECONDS, _SUSTAINED_LANES, without=["broker cut off"])
    with tempfile.TemporaryDirectory(prefix="assay-sustained-") as folder:
        run = _Sustained(
            Path(folder), faults, rate=0.0, checker={"type": "accept"}, archives=False, seconds=seconds, tell=_tell
        )
        run.given = rate
        ledger = run.run()
    done = run.done
    print(f"{len(done)} faults in {minutes:g} minutes at {run.at:,.0f} records a second\n")
    print(table(["fault", "times", "well again after (s, median)", "(longest)"], by_kind(done)))
    print()
    print(table(["", ""], run.figures))
    print()
    _print(ledger, run)
    return ledger.kept


class _Sustained(Storm):
    given: float | None = None
    at = 0.0
    """Records a second."""

    def before(self, traffic: Traffic) -> None:
        """Find the rate, and see how long a verdict takes at half of it."""
        self.figures: list[list[object]] = []
        if self.given is None:
            traffic.rate = _FILL_RATE
            time.sleep(_FILL_SECONDS)
            traffic.rate = 0
            time.sleep(_COMMIT_SECONDS)
            (first, _), begun = self._progress(), time.monotonic()
            time.sleep(_FILL_SECONDS)
            holds = (self._progress()[0] - first) / (time.monotonic() - begun)
            self.figures.append(["records a second from a backlog, without a fault", f"{holds:,.0f}"])
            self.at = holds * _SHARE
            _tell(f"{holds:,.0f} records a second from a backlog; {self.at:,.0f} are sent")
            self._wait_drained()
        else:
            self.at = self.given
        traffic.rate = self.at / 2
        delays = sorted(self._delays(_HALF_LOAD_SECONDS))
        for name, share in (("median", 0.5), ("p99", 0.99)):
            took = round(delays[int(share * len(delays))] * 1000)
            self.figures.append([f"milliseconds from intake to verdict at half of that ({name})", took])
        traffic.rate = self.at

    def after(self, traffic: Traffic) -> None:
        """Let what waits be gone, then send ten times as much for a minute."""
        lasted = self._wait_drained()
        self.figures.append(["seconds until nothing waited after the last fault, with records coming", lasted])
        workers = [member for name, member in self.members.items() if name.startswith("worker")]
        before = max(member.most_bytes for member in workers)
        sent = traffic.acknowledged
        traffic.rate = 10 * self.at
        time.sleep(_BURST_SECONDS)
        traffic.rate = self.at
        burst, waits = traffic.acknowledged - sent, self._progress()[1]
        lasted = self._wait_drained()
        self.figures += [
            [f"records of a burst of {_BURST_SECONDS:.0f} s", f"{burst:,}"],
            ["records that waited at its end", f"{waits:,}"],
            ["seconds until nothing waited, with records coming", lasted],
            ["most memory of a worker before, in MB", before // 2**20],
            ["and after", max(member.most_bytes for member in workers) // 2**20],
        ]

    def _progress(self) -> tuple[int, int]:
        while (progress := self.progress()) is None:
            time.sleep(_LOOK_SECONDS)
        return progress

    def _wait_drained(self) -> float:
        """Wait until no more waits than comes in a second; the seconds that it took."""
        begun = time.monotonic()
        while self._progress()[1] > max(self.at, _FEW):
            time.sleep(_LOOK_SECONDS)
        return round(time.monotonic() - begun, 1)

    def _delays(self, seconds: float) -> list[float]:
        """From the making of a record to its verdict's arrival at a consumer, of all that arrive for so long."""
        topics = self.settings.topics
        given = {"bootstrap.servers": self.settings.kafka.bootstrap_servers, "group.id": "delays"}
        consumer = Consumer(given | {"auto.offset.reset": "latest", "fetch.wait.max.ms": 10, "log_level": 0})
        known = consumer.list_topics(timeout=60).topics[topics.accepted].partitions
        consumer.assign([TopicPartition(topics.accepted, number, OFFSET_END) for number in known])
        found: list[float] = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for message in consumer.consume(1000, timeout=0.01):
                if (value := message.value()) is not None and message.error() is None:
                    made = datetime.fromisoformat(orjson.loads(value)["occurred_at"])
                    found.append(time.time() - made.timestamp())
        consumer.close()
        return found


def _tell(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def _print(ledger: Ledger, storm: Storm) -> None:
    rows: list[list[object]] = [
        ["offsets of the records' topic", ledger.offsets],
        ["left out + decided + abstained + dead letters + held", ledger.sum],
        ["", f"{ledger.left_out} + {ledger.decided} + {ledger.abstained} + {ledger.dead_letters} + {ledger.held}"],
        ["lost", len(ledger.lost)],
        ["acknowledged by the brokers, and not there", ledger.missing_of_sent],
        ["answered again, under the same id", ledger.repeated - ledger.clashes],
        ["clashing ids", ledger.clashes],
        ["with a verdict and a dead letter", ledger.two_ways],
        ["abstained once and decided once, as the judge was away", ledger.changed],
        ["outcomes without a verdict, or the reverse", ledger.outcomes_missing],
        ["counted by the trust monitor", ledger.trust_counted],
        ["off from the distinct outcomes", ledger.trust_off],
    ]
    if ledger.store_off is not None:
        rows.append(["store off from the topics, in rows and counts", ledger.store_off])
    rows += [
        ["most records that waited", storm.most_lag],
        ["longest time without progress (s)", storm.longest_stall],
        ["none waited so many seconds after the last record", round(storm.drained_after, 1)],
        *(
            [f"{name} ended by itself with status {status}", times]
            for name, statuses in storm.ended.items()
            for status, times in statuses.items()
        ),
        *([f"most memory of {name} (MB)", member.most_bytes // 2**20] for name, member in storm.members.items()),
    ]
    print(table(["", ""], rows))
