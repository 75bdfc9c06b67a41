"""The run of `assay demo`: broker, worker, records in, verdicts out; then more records until Ctrl-C."""

import asyncio
import contextlib
import dataclasses
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import click
from aiokafka import AIOKafkaConsumer
from pydantic import TypeAdapter

from agents.monitor.settings import LabelSettings
from agents.worker import Worker
from assay.cli.common import progress, stopped
from assay.cli.ui import served_page
from assay.config import Configuration, default_configuration
from assay.file_check import Line
from assay.plugins import own_checkers
from assay.summary import Summary
from assay.verdict_printer import VerdictPrinter, indented
from assay.wiring import ARCHIVIST, LABELS, TRUST_MONITOR, build_worker
from checkers.wording import labelled, plain
from models.model_loading import IS_BEING_LOADED
from schemas import Alert, DeadLetter, Envelope, SeriesAnew, TrueRateAlert, Verdict, read_record, to_json
from store.settings import StoreSettings
from streams.clients import reader
from streams.embedded import EmbeddedBroker
from streams.errors import StreamError
from streams.lookup import RecordLookup
from streams.record_sender import send_records
from streams.settings import HttpSettings, KafkaSettings, RecordSettings, StreamSettings

_SAMPLES = "records.jsonl"

_FIRST, _LAST = "sup-02", "min-07"
"""Samples that anybody understands, a wrong figure and a wrong date: the first and the last that are shown."""

_READY_SECONDS = 120.0
"""The model loads in 5 to 10 s; the first time on a busy machine takes ten times that."""

_SILENCE_SECONDS = 20.0
"""A sample takes milliseconds. Without a verdict for this long, the demo names what is missing and ends."""

_NEXT = (
    ("check FILE", "check your own records"),
    ("config check", "show the configuration"),
    ("schemas export DIR", "schemas of records and verdicts"),
    ("worker", "run the service on your Kafka"),
)

_BETTER = """
A better judge than the bundled one:
  {program} judge check      measures your own model
  judge.local.judge = "hhem-2.1"    a judge by name; pip install 'assay[judges]'\
"""

_FOLLOWING = """
The worker runs until Ctrl-C and reads records from {settings.topics.outputs}.
  page      {page}
  review    {page}review: outputs that people are asked about; one key per answer
  broker    {settings.kafka.bootstrap_servers}
  metrics   http://127.0.0.1:{port}/metrics
In other terminals:
  export ASSAY_KAFKA__BOOTSTRAP_SERVERS={settings.kafka.bootstrap_servers}
  {program} send FILE           more records
  {program} verdicts --id ID    a verdict with all its evidence
  {program} alerts --follow     alerts, as soon as it is certain that a model got worse
  {program} label               the same review by command, and label ID good or bad
Verdicts and alerts are shown here, too.
"""

_ASKED_AN_HOUR = 60
"""Verdicts of a series an hour: nearly all of the first hundred."""

Say = Callable[[str], None]

_Arrival: TypeAlias = Verdict | DeadLetter | Alert | SeriesAnew | TrueRateAlert


async def run_demo(*, follow: bool, say: Say, program: str) -> list[str]:
    """Run it; return the ids of records that got no verdict in time.

    `program` is the command that runs assay.

    Raises:
        StreamError: a part of the service did not start.
    """
    configuration = default_configuration([plugin.name for plugin in own_checkers() if plugin.stand_ins])
    plugins = list(configuration.installed.plugins.values())
    kinds = frozenset[str]().union(*(plugin.kinds for plugin in plugins))
    records = [record for record in _sample_records() if getattr(record, "kind", None) in kinds]
    say("starting the embedded broker…")
    with EmbeddedBroker() as broker, tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:
        settings = StreamSettings(
            kafka=KafkaSettings(bootstrap_servers=broker.bootstrap_servers),
            http=HttpSettings(port=0),
            records=RecordSettings(version_metadata=("release",)),
        )
        broker.create_topics(settings.topics.all)
        store = StoreSettings(url=f"sqlite:///{folder}/verdicts.db", records=True)
        labels = LabelSettings(per_hour=_ASKED_AN_HOUR)
        configuration = dataclasses.replace(configuration, streams=settings, store=store, labels=labels)
        say("starting the worker and loading the model…")
        async with (
            _running(configuration, [TRUST_MONITOR, ARCHIVIST, LABELS] if follow else [TRUST_MONITOR]) as worker,
            reader(settings.kafka) as consumer,
            RecordLookup(settings).running() as lookup,
        ):
            demo = _Demo(settings, consumer, lookup, VerdictPrinter(plugins), say)
            missing = await demo.check_samples(records)
            if not missing:
                say("\nWhere to go next:")
                for command, purpose in _NEXT:
                    say(f"  {f'{program} {command}':<{len(program) + 20}} {purpose}")
                say(_BETTER.format(program=program))
            if follow and not missing:
                async with served_page(configuration) as page:
                    say(_FOLLOWING.format(settings=settings, page=page, port=worker.http_port, program=program))
                    await demo.follow()
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


async def _as_lines(records: Sequence[Envelope]) -> AsyncIterator[Line]:
    for number, record in enumerate(records, start=1):
        data = to_json(record)
        yield Line(number, data, length=len(data), end=0)


@contextlib.asynccontextmanager
async def _running(configuration: Configuration, following: Sequence[str]) -> AsyncIterator[Worker]:
    plugins = list(configuration.installed.plugins.values())
    stand_ins = {name: model for plugin in plugins if plugin.stand_ins for name, model in plugin.stand_ins().items()}
    worker = await build_worker(configuration, plugins, following, stand_ins=stand_ins)
    try:
        # Standard error is where the worker logs.
        with progress(None, stderr=False, bar=sys.stdout.isatty()) as shown:
            shown.at(0, "loading the model")
            await worker.start()
            await _ready(worker)
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


@dataclasses.dataclass(slots=True)
class _Demo:
    """Sends records, and shows the worker's messages as they arrive."""

    _settings: StreamSettings
    _consumer: AIOKafkaConsumer
    _lookup: RecordLookup
    _printer: VerdictPrinter
    _say: Say
    _forms: dict[str, TypeAdapter[_Arrival]] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        topics = self._settings.topics
        self._forms = dict.fromkeys((topics.accepted, topics.rejected, topics.abstained), TypeAdapter(Verdict))
        self._forms |= {
            topics.dead_letter: TypeAdapter(DeadLetter),
            topics.alerts: TypeAdapter(Alert | SeriesAnew | TrueRateAlert),
        }
        self._consumer.subscribe(list(self._forms))

    async def check_samples(self, records: Sequence[Envelope]) -> list[str]:
        """Send records, show their verdicts and a summary; return the ids of those without a verdict in time.

        A plain rejection is shown first and another one last, abstentions before the last.
        """
        say, waiting = self._say, {record.id: record for record in records}
        summary = Summary()
        held: list[tuple[Verdict, str | None]] = []
        mistakes = 0
        say(f"{len(records)} records to {self._settings.topics.outputs}; verdicts as they arrive:\n")
        await send_records(self._settings, _as_lines(records))
        async with contextlib.aclosing(self._until_silent(_SILENCE_SECONDS)) as found:
            async for arrival in found:
                if not isinstance(arrival, Verdict) or (record := waiting.pop(arrival.record_id, None)) is None:
                    await self._show(arrival)
                    continue
                summary.records += 1
                summary.count(arrival)
                mistake = _mistake(arrival, record)
                mistakes += mistake is not None
                if arrival.outcome == "abstain" or record.id == _LAST or _FIRST in waiting:
                    held.append((arrival, mistake))
                else:
                    self._show_verdict(arrival, mistake)
                if not waiting:
                    break
        for verdict, mistake in sorted(held, key=lambda one: (one[0].record_id == _LAST, one[0].outcome == "abstain")):
            self._show_verdict(verdict, mistake)
        say("")
        for line in summary.lines():
            say(line)
        if not waiting:
            say(f"  {mistakes} of the {summary.decided} decisions are mistakes, say the samples' authors")
        return list(waiting)

    async def follow(self) -> None:
        """Show what arrives until Ctrl-C."""

        async def show() -> None:
            async for arrival in self._until_silent(float("inf")):
                await self._show(arrival)

        tasks = [asyncio.create_task(show()), asyncio.create_task(stopped())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        self._say("stopping the worker…")
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_silent(self, seconds: float) -> AsyncGenerator[_Arrival]:
        """Messages as they arrive, until none has for so many seconds."""
        last = time.monotonic()
        while time.monotonic() - last < seconds:
            for partition, messages in (await self._consumer.getmany(timeout_ms=250)).items():
                last = time.monotonic()
                for message in messages:
                    yield self._forms[partition.topic].validate_json(message.value)

    async def _show(self, arrival: _Arrival) -> None:
        if isinstance(arrival, Verdict):
            self._show_verdict(arrival)
        elif isinstance(arrival, DeadLetter):
            self._say(click.style(f"dead letter: {arrival.reason}: {plain(arrival.detail)[:200]}", fg="magenta"))
        else:
            async for line in self._printer.alert(arrival, self._lookup):
                self._say(line)

    def _show_verdict(self, verdict: Verdict, mistake: str | None = None) -> None:
        for line in self._printer.lines(verdict):
            self._say(line)
        for line in indented(labelled("mistake: ", mistake) if mistake else ()):
            self._say(click.style(line, fg="magenta"))


def _mistake(verdict: Verdict, record: Envelope) -> str | None:
    """The mistake of a verdict, by the sample's author; None if there is none, or nothing was decided."""
    expected = record.metadata.get("expected", verdict.outcome)
    if verdict.outcome in {"abstain", expected}:
        return None
    if expected == "accept":
        return "the sample's author finds nothing wrong"
    return f"the sample's author rejects it: {record.metadata.get('fault')}"
