"""The pace of records that an endpoint answers, alone and among records that it never answers."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.delivery.endpoint import endpoint
from benchmarks.delivery.throughput import verdict_times
from benchmarks.tables import table
from tests.support.kafka import KafkaBroker, running_kafka
from tests.support.scenarios import Place
from tests.support.stub_acts import Act, good, hang
from tests.support.stub_request import StubRequest
from tests.support.traffic import put, record

OF_ALONE = 0.75
"""The share of their pace that records keep which the endpoint answers."""

_SHARES = (0.2, 0.5)
"""Shares of records that it never answers."""

_DELAY_SECONDS = 1.0
_AT_ONCE = 64

_SHORT = "The board met on Monday."
_LONG = " ".join([_SHORT, *(f"Member {number} left at noon." for number in range(1000))])


def short_ones(request: StubRequest) -> Act:
    """Requests with a long text are left without an answer."""
    return good() if request.size <= len(_LONG) else hang()


class _Run(NamedTuple):
    answered: list[float]
    """Times of the verdicts on records that the endpoint answers, in order."""
    abstained: int

    @property
    def rate(self) -> float:
        """A second, from the first call on."""
        return len(self.answered) / (self.answered[-1] - self.answered[0] + _DELAY_SECONDS)


def measure(records: int) -> bool:
    """Measure and print; whether the bound is kept."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        runs = [(share, _run(broker, Path(folder), records, share)) for share in (0.0, *_SHARES)]
    alone = runs[0][1]
    rows = [
        [
            f"{share:.0%}",
            str(len(run.answered)),
            str(run.abstained),
            f"{run.answered[-1] - run.answered[0] + _DELAY_SECONDS:.0f}",
            f"{run.rate:.1f}",
            f"{run.rate / alone.rate:.1%}",
        ]
        for share, run in runs
    ]
    print(table(["never answered", "answered", "abstained", "seconds", "answered a second", "of the pace alone"], rows))
    print(f"the bound is {OF_ALONE:.0%} where {_SHARES[0]:.0%} are never answered")
    return runs[1][1].rate >= OF_ALONE * alone.rate


def _run(broker: KafkaBroker, folder: Path, records: int, share: float) -> _Run:
    place = Place(broker.bootstrap_servers, f"slow{share:.0%}".rstrip("%"), folder)
    raw = place.settings()
    settings = place.prepare(raw)
    asyncio.run(put(place.servers, settings.topics.outputs, list(_mixed(records, share))))
    decided, abstained = (settings.topics.accepted, settings.topics.rejected), (settings.topics.abstained,)
    with (
        endpoint(delay=_DELAY_SECONDS, limit=_AT_ONCE, script=f"{__name__}:{short_ones.__name__}") as agent,
        place.worker([agent], raw) as worker,
    ):
        found = asyncio.run(verdict_times(place.servers, decided, records, others=abstained))
        worker.terminate()
    return _Run(*found)


def _mixed(records: int, share: float) -> Iterator[bytes]:
    """So many records that are answered, with others evenly among them."""
    made = 0.0
    for number in range(records):
        made += share / (1 - share)
        while made >= 1:
            made -= 1
            yield record(number, id=f"long{number}-{made:.2f}", response=f"{_SHORT} {number}", reference=_LONG)
        # Each asks another question, so that none is answered from the cache.
        text = f"The board met on Monday for the {number}th time."
        yield record(number, response=text, reference=text)
