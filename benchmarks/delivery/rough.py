"""The pace with a judge that fails now and then, as a share of the pace with the same judge that does not."""

import random
import tempfile
from pathlib import Path

from benchmarks.delivery.endpoint import judged
from benchmarks.tables import table
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.stub_acts import Act, good, nonsense, status, too_many
from tests.support.stub_request import StubRequest
from tests.support.traffic import record

OF_QUIET = 0.8
"""The share of the quiet judge's pace that is kept with the rough one."""

_MOST = 0.95
"""The pace is that of so many of the records: the last ones wait for calls that hang, and say nothing of a stream."""

_PARTITIONS = 24
_RANDOM = random.Random(7)


def quiet(request: StubRequest) -> Act:
    """Any number at once, each in .02 to .3 s."""
    return good(delay=_RANDOM.uniform(0.02, 0.3))


def rough(request: StubRequest) -> Act:
    """The same; of 1,000 requests 10 are refused as too many, 10 fail, 3 hang for 40 s and 7 get rubbish."""
    drawn = _RANDOM.random()
    if drawn < 0.01:
        return too_many("1")
    if drawn < 0.02:
        return status(500)
    if drawn < 0.023:
        return good(delay=40)
    return nonsense() if drawn < 0.03 else quiet(request)


def measure(records: int, rounds: int) -> bool:
    """Measure in turns and print; whether the bound is kept."""
    texts = [f"Parcel {number} left the hub. It weighs {number % 7} kg." for number in range(records)]
    lines = [record(number, response=text, reference=text) for number, text in enumerate(texts)]
    rows, rates = [], []
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        for turn in range(rounds):
            pair = []
            for act in (quiet, rough):
                place = Place(broker.bootstrap_servers, f"{act.__name__}{turn}", Path(folder))
                script = f"{__name__}:{act.__name__}"
                found = judged(place, lines, workers=2, partitions=_PARTITIONS, delay=0.0, script=script)
                pair.append(_MOST * records / (found.times[int(_MOST * records)] - found.times[0]))
                cpu = f"{found.cpu / records * 1000:.1f}"
                rows.append([act.__name__, f"{pair[-1]:.0f}", cpu, f"{found.seconds:.0f}"])
            rates.append(pair)
    print(table(["judge", "records a second", "ms of CPU a record", "last after s"], rows))
    share = min(with_faults / without for without, with_faults in rates)
    print(f"{share:.1%} of the quiet judge's pace at least; the bound is {OF_QUIET:.0%}")
    return share >= OF_QUIET
