"""`assay demo` from start to end: broker, worker, records in, verdicts out; then more records until Ctrl-C."""

import asyncio
import contextlib
import dataclasses
import signal
import textwrap
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from pathlib import Path

import click
from aiokafka import AIOKafkaConsumer

from agents.worker import Worker
from assay.agent_selection import TRUST_MONITOR, UNCLAIMED
from assay.config import Configuration, default_configuration
from assay.plugins import own_checkers
from assay.summary import Summary
from assay.verdict_printer import WIDTH, VerdictPrinter
from assay.wiring import build_worker
from checkers.oracle.model_loading import IS_BEING_LOADED
from checkers.wording import plain
from schemas import DeadLetter, Envelope, Verdict, read_record, to_json
from streams.clients import reader
from streams.embedded import EmbeddedBroker
from streams.errors import StreamError
from streams.record_sender import send_records
from streams.settings import HttpSettings, KafkaSettings, StreamSettings

_SAMPLES = "records.jsonl"

_READY_SECONDS = 120.0
"""The model loads in 5 to 10 s, the first time and on a busy machine in ten times that."""

_SILENCE_SECONDS = 20.0
"""A sample takes milliseconds. If no verdict comes for this long something is wrong: the demo says what is missing and
ends."""

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
    # A no about paraphrases needs its subject, and is abstained on.
    configuration = default_configuration([plugin.name for plugin in own_checkers() if not plugin.needs_endpoint])
    plugins = list(configuration.installed.plugins.values())
    kinds = frozenset[str]().union(*(plugin.kinds for plugin in plugins))
    records = [record for record in _sample_records() if getattr(record, "kind", None) in kinds]
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
            async with reader(settings.kafka) as consumer:
                demo = _Demo(settings, consumer, VerdictPrinter(plugins), say)
                missing = await demo.check_samples(records)
                if follow and not missing:
                    await demo.follow(worker)
    return missing


def _sample_records() -> list[Envelope]:
    """The sample records: of the installed package, or of the checkout it runs from.

    Raises:
        StreamError: the installation lacks the file.
    """
    package = Path(__file__).parent
    for folder in (package, package.parent / "examples"):
        file = folder / _SAMPLES
        if file.is_file():
            return [read_record(line, max_bytes=len(line)) for line in file.read_bytes().splitlines()]
    raise StreamError(f"the sample records ({_SAMPLES}) are missing from this installation")


@contextlib.asynccontextmanager
async def _running(configuration: Configuration) -> AsyncIterator[Worker]:
    plugins = list(configuration.installed.plugins.values())
    stand_ins = {name: oracle for plugin in plugins for name, oracle in plugin.stand_ins().items()}
    worker = await build_worker(configuration, plugins, [TRUST_MONITOR, UNCLAIMED], stand_ins=stand_ins)
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop()


async def _ready(worker: Worker) -> None:
    """Wait until the worker's `/readyz` says that it is ready."""
    import httpx

    deadline = time.monotonic() + _READY_SECONDS
    async with httpx.AsyncClient(trust_env=False, timeout=_READY_SECONDS) as client:
        while True:
            answer = await client.get(f"http://127.0.0.1:{worker.http_port}/readyz")
            if answer.is_success:
                return
            parts = {part: state for part, state in answer.json()["parts"].items() if state != "ok"}
            if time.monotonic() > deadline or not parts.get("judge", IS_BEING_LOADED).endswith(IS_BEING_LOADED):
                what = ", ".join(f"{part}: {state}" for part, state in parts.items())
                raise StreamError(f"the worker is not ready ({what})")
            await asyncio.sleep(0.1)


class _Demo:
    """Sends records, and shows what the worker puts onto its topics as it arrives."""

    def __init__(self, settings: StreamSettings, consumer: AIOKafkaConsumer, printer: VerdictPrinter, say: Say) -> None:
        topics = settings.topics
        self._settings = settings
        self._consumer = consumer
        self._printer = printer
        self._say = say
        self._explained: set[str] = set()
        """Checkers of which an accepted record was explained: one is enough to see what an acceptance rests on."""
        self._forms: dict[str, type[Verdict | DeadLetter]] = {
            topics.accepted: Verdict,
            topics.rejected: Verdict,
            topics.abstained: Verdict,
            topics.dead_letter: DeadLetter,
        }
        consumer.subscribe(list(self._forms))

    async def check_samples(self, records: Sequence[Envelope]) -> list[str]:
        """Send records, show their verdicts and a summary; return the ids of those without a verdict in time."""
        say, waiting = self._say, {record.id: record for record in records}
        summary = Summary([])
        unexpected: list[str] = []
        undecided: list[str] = []
        say(f"{len(records)} records onto {self._settings.topics.outputs}; their verdicts as they arrive:\n")
        await send_records(self._settings, [to_json(record) for record in records])
        async with contextlib.aclosing(self._shown_until_silent(_SILENCE_SECONDS)) as found:
            async for arrival in found:
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

    async def follow(self, worker: Worker) -> None:
        """Show what arrives until Ctrl-C."""
        server = self._settings.kafka.bootstrap_servers
        self._say(f"\nThe worker stays until Ctrl-C, and takes records from {self._settings.topics.outputs}.")
        self._say(f"  broker    {server}")
        self._say(f"  metrics   http://127.0.0.1:{worker.http_port}/metrics")
        self._say("In other terminals:")
        self._say(f"  export ASSAY_KAFKA__BOOTSTRAP_SERVERS={server}")
        self._say("  assay send FILE           more records")
        self._say("  assay alerts --follow     who got worse, as soon as it is certain\n")
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)

        async def show() -> None:
            async for _ in self._shown_until_silent(float("inf")):
                pass

        tasks = [asyncio.create_task(show()), asyncio.create_task(ended.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        self._say("stopping the worker…")
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _shown_until_silent(self, seconds: float) -> AsyncGenerator[Verdict | DeadLetter]:
        """Verdicts and dead letters, shown as they arrive, until none has for so many seconds."""
        last = time.monotonic()
        while time.monotonic() - last < seconds:
            for partition, messages in (await self._consumer.getmany(timeout_ms=250)).items():
                last = time.monotonic()
                for message in messages:
                    arrival = self._forms[partition.topic].model_validate_json(message.value)
                    self._show(arrival)
                    yield arrival

    def _show(self, arrival: Verdict | DeadLetter) -> None:
        if isinstance(arrival, DeadLetter):
            self._say(click.style(f"dead letter: {arrival.reason}: {plain(arrival.detail)[:200]}", fg="magenta"))
            return
        lines = list(self._printer.lines(arrival))
        if arrival.outcome == "accept" and arrival.checker not in self._explained:
            self._explained.add(arrival.checker)
            lines = list(self._printer.explained(arrival)) or lines
        for line in lines:
            self._say(line)
