"""Records a second from one partition of Apache Kafka."""

import tempfile
from pathlib import Path

from benchmarks.delivery.endpoint import judged
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.traffic import record

OF_THE_ENDPOINT = 0.95
"""The calls' share of what the endpoint can do."""

_DELAY_SECONDS = 0.2
_AT_ONCE = 64
_CALLS_A_RECORD = 2


def measure(calls: int) -> bool:
    """Measure and print; whether the bound is kept."""
    # Each record is of one sentence, and a different one, so that each is a call and its control.
    texts = [f"Parcel {number} arrives on Wednesday before noon." for number in range(calls // _CALLS_A_RECORD)]
    lines = [
        record(number, task="answer", prompt="When?", response=text, reference=text)
        for number, text in enumerate(texts)
    ]
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        place = Place(broker.bootstrap_servers, "endpoint", Path(folder))
        found = judged(place, lines, decided=len(lines), delay=_DELAY_SECONDS, limit=_AT_ONCE)
    # The work on the first began a call before it.
    rate = _CALLS_A_RECORD * len(lines) / (found.seconds + _DELAY_SECONDS)
    share, micros = rate / (_AT_ONCE / _DELAY_SECONDS), found.cpu / calls * 1e6
    print(f"endpoint: {rate:.0f} calls/s ({micros:.0f} µs of CPU a call), {share:.1%} of what it can do")
    print(f"the bound is {OF_THE_ENDPOINT:.0%}")
    return share >= OF_THE_ENDPOINT
