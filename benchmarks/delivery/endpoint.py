"""Workers that ask a stand-in for an endpoint, which is its own process so that it does not take the workers' time."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import psutil
from aiokafka import AIOKafkaConsumer

from tests.support.scenarios import Place
from tests.support.traffic import put
from tests.support.workers import ROOT

_LONGEST_RUN_SECONDS = 570.0
_LOOK_SECONDS = 0.2


class Judged(NamedTuple):
    """What became of some records."""

    times: list[float]
    """When the awaited verdicts were written, in order."""
    abstained: int
    """Verdicts by then that were not awaited."""
    cpu: float
    """Processor seconds of the workers."""

    @property
    def seconds(self) -> float:
        """From the first verdict to the last."""
        return self.times[-1] - self.times[0]


def judged(
    place: Place,
    lines: list[bytes],
    *,
    decided: int | None = None,
    workers: int = 1,
    partitions: int = 1,
    **given: object,
) -> Judged:
    """Records checked by so many workers, until so many are decided, or all have a verdict.

    Args:
        place: Where the workers run.
        lines: The records.
        decided: Accepts and rejects that are awaited; without it any verdicts on all records.
        workers: How many.
        partitions: Of the records' topic.
        given: Options of the endpoint: `delay` to an answer in seconds, `limit` of requests under way at once, those
            beyond wait, and `script`, who decides what it does with a request, as MODULE:NAME.
    """
    raw = place.settings(partitions=partitions)
    topics = place.prepare(raw).topics
    verdicts, others = [topics.accepted, topics.rejected], [topics.abstained]
    if decided is None:
        verdicts, others = [*verdicts, *others], []
    with contextlib.ExitStack() as stack:
        agent = stack.enter_context(_endpoint(given))
        running = [stack.enter_context(place.worker([agent], raw, f"worker{number}")) for number in range(workers)]
        for each in running:
            each.wait_ready()
        processes = [psutil.Process(each.pid) for each in running]
        before = _cpu_seconds(processes)
        asyncio.run(put(place.servers, topics.outputs, lines, spread=partitions > 1))
        wanted = len(lines) if decided is None else decided
        times, aside = asyncio.run(_verdict_times(place.servers, verdicts, others, wanted))
        used = _cpu_seconds(processes) - before
        for each in running:
            each.terminate()
    return Judged(times, aside, used)


@contextlib.contextmanager
def _endpoint(given: dict[str, object]) -> Iterator[dict[str, Any]]:
    """What a worker is told of a consistency checker that asks it, while it runs."""
    command = [sys.executable, "-m", "tests.support.stub_endpoint", "--port", "0"]
    command += [part for name, value in given.items() for part in (f"--{name}", str(value))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it was asked for
            address = f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
            yield {"type": "asking", "checker": "consistency", "base_url": address}
        finally:
            process.kill()


async def _verdict_times(
    servers: str, topics: Sequence[str], others: Sequence[str], records: int
) -> tuple[list[float], int]:
    """When each of so many verdicts was written, in order; and how many are on the other topics by then."""
    times: list[float] = []
    aside = 0
    consumer = AIOKafkaConsumer(*topics, *others, bootstrap_servers=servers, auto_offset_reset="earliest")
    async with consumer, asyncio.timeout(_LONGEST_RUN_SECONDS):
        while len(times) < records:
            # Reading along takes the processor from what is measured.
            await asyncio.sleep(_LOOK_SECONDS)
            for place, messages in (await consumer.getmany(timeout_ms=500)).items():
                if place.topic in others:
                    aside += len(messages)
                else:
                    times += [message.timestamp / 1000 for message in messages]
    return sorted(times), aside


def _cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))
