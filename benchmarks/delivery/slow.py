"""The pace of records that an endpoint answers, alone and among records that it never answers."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.delivery.endpoint import judged
from benchmarks.tables import table
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.stub_acts import Act, good, hang
from tests.support.stub_request import StubRequest
from tests.support.traffic import record

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


def measure(records: int) -> bool:
    """Measure and print; whether the bound is kept."""
    script = f"{__name__}:{short_ones.__name__}"
    rows: list[list[object]] = []
    paces = []
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        for never in (0.0, *_SHARES):
            place = Place(broker.bootstrap_servers, f"slow{never * 100:.0f}", Path(folder))
            lines = list(_mixed(records, never))
            found = judged(place, lines, decided=records, delay=_DELAY_SECONDS, limit=_AT_ONCE, script=script)
            # From the first call on.
            seconds = found.seconds + _DELAY_SECONDS
            paces.append(records / seconds)
            of_alone = f"{paces[-1] / paces[0]:.1%}"
            rows.append([f"{never:.0%}", records, found.abstained, f"{seconds:.0f}", f"{paces[-1]:.1f}", of_alone])
    print(table(["never answered", "answered", "abstained", "seconds", "answered a second", "of the pace alone"], rows))
    print(f"the bound is {OF_ALONE:.0%} where {_SHARES[0]:.0%} are never answered")
    return paces[1] >= OF_ALONE * paces[0]


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
