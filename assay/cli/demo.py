"""`assay demo`: sample records through the whole service, without Kafka, key or configuration."""

import asyncio
import contextlib
import dataclasses
import logging
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import click
from pydantic import TypeAdapter

from agents.monitor.settings import LabelSettings
from assay.cli.common import NotFinished, stopped
from assay.cli.ui import served_page
from assay.config import default_configuration
from assay.reports import Summary, VerdictPrinter, indented
from assay.wiring import ARCHIVIST, LABELS, TRUST_MONITOR, build_worker
from checkers.plugin import own_checkers
from checkers.wording import labelled, plain
from schemas import Alert, DeadLetter, Envelope, SeriesAnew, TrueRateAlert, Verdict, read_record, to_json
from store.settings import StoreSettings
from streams.embedded import EmbeddedBroker
from streams.errors import ExtraMissing, StreamError
from streams.logs import configure_logs
from streams.lookup import RecordLookup
from streams.record_lines import Line
from streams.record_sender import send_records
from streams.settings import HttpSettings, KafkaSettings, RecordSettings, StreamSettings
from streams.topic_reader import TopicView

_SAMPLES = "records.jsonl"

_FIRST, _LAST = "sup-02", "min-07"
"""Samples that anybody understands, a wrong figure and a wrong date: the first and the last that are shown."""

_LOADING_SECONDS = 120.0
"""For the first verdict. The model loads in 5 to 10 s; the first time on a busy machine takes ten times that."""

_SILENCE_SECONDS = 20.0
"""A sample takes milliseconds. Without a verdict for this long, the demo names what is missing and ends."""

_NEXT = """
Where to go next:
  {program} check FILE          check your own records
  {program} schemas export DIR  schemas of records and verdicts
  {program} worker              run the service on your Kafka

A better judge than the bundled one:
  {program} judge check         measures your own model
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

_Arrival: TypeAlias = Verdict | DeadLetter | Alert | SeriesAnew | TrueRateAlert


@click.command()
@click.option("--follow", is_flag=True, help="Then keep running and check more records until Ctrl-C.")
def demo(follow: bool) -> None:
    """Check sample records on the embedded broker with the local judge: no Kafka, no key, no configuration.

    assay.toml and ASSAY_ variables are ignored.
    """
    with _quiet_libraries() as log:
        try:
            asyncio.run(_run(follow=follow))
        except ExtraMissing:
            raise
        except StreamError as error:
            raise NotFinished(f"{error}; the worker's log: {log}") from None


@contextlib.contextmanager
def _quiet_libraries() -> Iterator[Path]:
    """Redirect standard error, with logs and warnings, to the file that this yields; it is kept unless it ends well."""
    log = Path(tempfile.mkdtemp(prefix="assay-demo-")) / "worker.log"
    with log.open("w", encoding="utf-8") as file, contextlib.redirect_stderr(file):
        configure_logs("info")
        logging.captureWarnings(True)
        yield log
    shutil.rmtree(log.parent, ignore_errors=True)


async def _run(*, follow: bool) -> None:
    """Run it; raises StreamError if records got no verdict in time."""
    say = click.echo
    started = Path(sys.argv[0])
    # The shell may not find the program by its name.
    program = str(started) if started.name == "assay" and shutil.which("assay") is None else "assay"
    configuration = default_configuration([plugin.name for plugin in own_checkers() if plugin.stand_ins])
    plugins = list(configuration.installed.plugins.values())
    kinds = frozenset[str]().union(*(plugin.kinds for plugin in plugins))
    records = [record for record in _sample_records() if getattr(record, "kind", None) in kinds]
    stand_ins = {name: model for plugin in plugins if plugin.stand_ins for name, model in plugin.stand_ins().items()}
    say("starting the embedded broker…")
    with EmbeddedBroker() as broker, tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:
        settings = StreamSettings(
            kafka=KafkaSettings(bootstrap_servers=broker.bootstrap_servers),
            http=HttpSettings(port=0),
            records=RecordSettings(version_metadata=("release",)),
        )
        topics = settings.topics
        broker.create_topics(topics.all)
        configuration = dataclasses.replace(
            configuration,
            streams=settings,
            store=StoreSettings(url=f"sqlite:///{folder}/verdicts.db", records=True),
            labels=LabelSettings(per_hour=_ASKED_AN_HOUR),
        )
        say("starting the worker and loading the model…")
        following = [TRUST_MONITOR, ARCHIVIST, LABELS] if follow else [TRUST_MONITOR]
        worker = await build_worker(configuration, plugins, following, stand_ins=stand_ins)
        shown = (topics.accepted, topics.rejected, topics.abstained, topics.dead_letter, topics.alerts)
        view = TopicView(settings.kafka, shown, TypeAdapter[_Arrival](_Arrival))
        try:
            await worker.start()
            async with (
                RecordLookup(settings).running() as lookup,
                contextlib.aclosing(view.messages(follow=True)) as arrivals,
            ):
                printer = _Printer(VerdictPrinter(plugins), lookup)
                await _check_samples(settings, records, arrivals, printer)
                say(_NEXT.format(program=program))
                if follow:
                    async with served_page(configuration) as page:
                        say(_FOLLOWING.format(settings=settings, page=page, port=worker.http.port, program=program))
                        await _follow(arrivals, printer)
        finally:
            await worker.stop()


def _sample_records() -> list[Envelope]:
    """The sample records: of the installed package, or of the checkout it runs from."""
    package = Path(__file__).parent.parent
    folder = package if (package / _SAMPLES).is_file() else package.parent / "examples"
    return [read_record(line, max_bytes=len(line)) for line in (folder / _SAMPLES).read_bytes().splitlines()]


async def _check_samples(
    settings: StreamSettings,
    records: Sequence[Envelope],
    arrivals: AsyncGenerator[_Arrival, None],
    printer: "_Printer",
) -> None:
    """Send records, show their verdicts and a summary; raise StreamError if any has no verdict in time."""
    waiting, held = {record.id: record for record in records}, list[tuple[Verdict, str | None]]()
    summary, mistakes = Summary(), 0

    async def lines() -> AsyncIterator[Line]:
        for number, data in enumerate(map(to_json, records), start=1):
            yield Line(number, data, length=len(data), end=0)

    click.echo(f"{len(records)} records to {settings.topics.outputs}; verdicts as they arrive:\n")
    await send_records(settings, lines())
    with contextlib.suppress(TimeoutError):
        while waiting:
            arrival = await asyncio.wait_for(anext(arrivals), _SILENCE_SECONDS if summary.records else _LOADING_SECONDS)
            if not isinstance(arrival, Verdict) or (record := waiting.pop(arrival.record_id, None)) is None:
                await printer.show(arrival)
                continue
            summary.records += 1
            summary.count(arrival)
            mistake = _mistake(arrival, record)
            mistakes += mistake is not None
            # A plain rejection is shown first and another one last, abstentions before the last.
            if arrival.outcome == "abstain" or record.id == _LAST or _FIRST in waiting:
                held.append((arrival, mistake))
            else:
                await printer.show(arrival, mistake)
    for verdict, mistake in sorted(held, key=lambda one: (one[0].record_id == _LAST, one[0].outcome == "abstain")):
        await printer.show(verdict, mistake)
    click.echo("\n".join(["", *summary.lines()]))
    if waiting:
        raise StreamError(f"no verdict in time for {', '.join(waiting)}")
    click.echo(f"  {mistakes} of the {summary.decided} decisions are mistakes, say the samples' authors")


async def _follow(arrivals: AsyncGenerator[_Arrival, None], printer: "_Printer") -> None:
    """Show what arrives until Ctrl-C."""

    async def show() -> None:
        async for arrival in arrivals:
            await printer.show(arrival)

    showing, ended = asyncio.create_task(show()), asyncio.create_task(stopped())
    await asyncio.wait([showing, ended], return_when=asyncio.FIRST_COMPLETED)
    showing.cancel()
    await asyncio.wait([showing])
    click.echo("stopping the worker…")


class _Printer(NamedTuple):
    verdicts: VerdictPrinter
    lookup: RecordLookup

    async def show(self, arrival: _Arrival, mistake: str | None = None) -> None:
        """Print a message of the worker, and the mistake of a verdict."""
        if isinstance(arrival, DeadLetter):
            click.echo(click.style(f"dead letter: {arrival.reason}: {plain(arrival.detail)[:200]}", fg="magenta"))
        elif isinstance(arrival, Verdict):
            for line in self.verdicts.lines(arrival):
                click.echo(line)
            for line in indented(labelled("mistake: ", mistake) if mistake else ()):
                click.echo(click.style(line, fg="magenta"))
        else:
            async for line in self.verdicts.alert(arrival, self.lookup):
                click.echo(line)


def _mistake(verdict: Verdict, record: Envelope) -> str | None:
    """The mistake of a verdict, by the sample's author; None if there is none, or nothing was decided."""
    expected = record.metadata.get("expected", verdict.outcome)
    if verdict.outcome in {"abstain", expected}:
        return None
    if expected == "accept":
        return "the sample's author finds nothing wrong"
    return f"the sample's author rejects it: {record.metadata.get('fault')}"
