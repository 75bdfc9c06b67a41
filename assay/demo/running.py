"""The demo from start to end: broker, worker, records in, verdicts out; then its end, or more records until Ctrl-C."""

import asyncio
import contextlib
import dataclasses
import signal
import textwrap
import time
from collections.abc import AsyncIterator, Callable, Sequence

import click

from agents.worker import Worker
from assay.config import Configuration, default_configuration
from assay.demo.samples import sample_records
from assay.demo.showing import WIDTH
from assay.demo.showing import lines as shown
from assay.demo.verdicts import Arrivals
from assay.following import TRUST_MONITOR, UNCLAIMED
from assay.loading import LOADING
from assay.summary import Summary
from assay.wiring import build_worker
from checkers.wording import plain
from schemas import DeadLetter, Envelope, Verdict, to_json
from streams.embedded import EmbeddedBroker
from streams.errors import StreamError
from streams.record_sender import send_records
from streams.settings import HttpSettings, KafkaSettings, StreamSettings

CHECKERS = ("consistency", "equivalence", "retrieval")
"""Those that need no more than the local judge. A no about paraphrases needs its subject, and is abstained on."""

_READY_SECONDS = 120.0
"""The model loads in 5 to 10 s, the first time and on a busy machine in ten times that."""

_SILENCE_SECONDS = 20.0
"""A sample takes milliseconds; so long without one more verdict, something is wrong, and the demo says what is missing
and ends."""

_NEXT = (
    ("assay check FILE", "your own records, from a file"),
    ("assay config check", "what is configured, and where each value came from"),
    ("assay schemas export DIR", "the formats, for producers and consumers"),
    ("assay worker", "the service on your Kafka"),
)

Say = Callable[[str], None]


async def run_demo(*, follow: bool, say: Say) -> list[str]:
    """Run it; return the ids of records that got no verdict in time.

    Raises:
        StreamError: a part of it did not start.
    """
    configuration = default_configuration(CHECKERS)
    records = sample_records(_kinds(configuration))
    say("starting the embedded broker…")
    with EmbeddedBroker() as broker:
        settings = StreamSettings(
            kafka=KafkaSettings(bootstrap_servers=broker.bootstrap_servers), http=HttpSettings(port=0)
        )
        broker.create_topics(settings.topics.all)
        configuration = dataclasses.replace(configuration, streams=settings)
        say("starting the worker and loading the model…")
        async with _running(configuration) as worker:
            await _ready(worker)
            async with Arrivals(settings) as arrivals:
                missing = await _check_samples(records, settings, arrivals, say)
                if follow and not missing:
                    await _follow(settings, worker, arrivals, say)
    return missing


def _kinds(configuration: Configuration) -> frozenset[str]:
    return frozenset().union(*(plugin.kinds for plugin in configuration.installed.plugins.values()))


@contextlib.asynccontextmanager
async def _running(configuration: Configuration) -> AsyncIterator[Worker]:
    plugins = list(configuration.installed.plugins.values())
    worker = await build_worker(configuration, plugins, [TRUST_MONITOR, UNCLAIMED])
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop()


async def _ready(worker: Worker) -> None:
    """Wait until the worker says of itself, over HTTP as orchestrators ask, that it is ready."""
    import httpx

    deadline = time.monotonic() + _READY_SECONDS
    async with httpx.AsyncClient(trust_env=False, timeout=_READY_SECONDS) as client:
        while True:
            answer = await client.get(f"http://127.0.0.1:{worker.http_port}/readyz")
            if answer.is_success:
                return
            parts = {part: state for part, state in answer.json()["parts"].items() if state != "ok"}
            if time.monotonic() > deadline or parts.get("judge", LOADING) != LOADING:
                what = ", ".join(f"{part}: {state}" for part, state in parts.items())
                raise StreamError(f"the worker is not ready ({what})")
            await asyncio.sleep(0.1)


async def _check_samples(
    records: Sequence[Envelope], settings: StreamSettings, arrivals: Arrivals, say: Say
) -> list[str]:
    summary = Summary(CHECKERS)
    say(f"{len(records)} records onto {settings.topics.outputs}; their verdicts as they arrive:\n")
    await send_records(settings, [to_json(record) for record in records])
    waiting = {record.id: record for record in records}
    unexpected: list[str] = []
    undecided: list[str] = []
    async with contextlib.aclosing(arrivals.until_silent(_SILENCE_SECONDS)) as found:
        async for arrival in found:
            _show(arrival, say)
            if isinstance(arrival, Verdict) and (record := waiting.pop(arrival.record_id, None)) is not None:
                summary.records += 1
                summary.count(arrival)
                if record.metadata.get("expected", arrival.outcome) != arrival.outcome:
                    (undecided if arrival.outcome == "abstain" else unexpected).append(record.id)
            if not waiting:
                break
    say("")
    for line in summary.lines():
        say(line)
    if not waiting:
        agreed = summary.records - len(unexpected) - len(undecided)
        say(f"  as the samples' authors see it: {agreed} of {summary.records}")
        for what, ids in (("they see otherwise", unexpected), ("not decided here", undecided)):
            if ids:
                say(textwrap.fill(f"  {what}: {', '.join(ids)}", WIDTH, subsequent_indent="    "))
        say("\nWhere to go next:")
        for command, purpose in _NEXT:
            say(f"  {command:<25} {purpose}")
    return list(waiting)


async def _follow(settings: StreamSettings, worker: Worker, arrivals: Arrivals, say: Say) -> None:
    server = settings.kafka.bootstrap_servers
    say(f"\nThe worker stays until Ctrl-C, and takes records from {settings.topics.outputs}.")
    say(f"  broker    {server}")
    say(f"  metrics   http://127.0.0.1:{worker.http_port}/metrics")
    say("In other terminals:")
    say(f"  export ASSAY_KAFKA__BOOTSTRAP_SERVERS={server}")
    say("  assay send FILE           more records")
    say("  assay alerts --follow     who got worse, as soon as it is certain\n")
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)

    async def show() -> None:
        async for arrival in arrivals.until_silent(float("inf")):
            _show(arrival, say)

    showing = asyncio.create_task(show())
    stopping = asyncio.create_task(ended.wait())
    await asyncio.wait([showing, stopping], return_when=asyncio.FIRST_COMPLETED)
    for task in (showing, stopping):
        task.cancel()
    say("stopping the worker…")
    await asyncio.gather(showing, stopping, return_exceptions=True)


def _show(arrival: Verdict | DeadLetter, say: Say) -> None:
    if isinstance(arrival, DeadLetter):
        say(click.style(f"dead letter: {arrival.reason}: {plain(arrival.detail)[:200]}", fg="magenta"))
        return
    for line in shown(arrival):
        say(line)
