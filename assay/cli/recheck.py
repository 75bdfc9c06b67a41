"""`assay recheck`: one checker checks outputs of the past; their cost is shown first."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import click

from agents.routing import sample_point
from assay.cli.common import MOMENT, NUMBER, NotFinished, WrongUse, configured, download_models
from assay.config import Configuration
from assay.file_check import configured_check
from assay.summary import FileSample
from assay.wiring import wired
from checkers.model_patience import ModelPatience
from checkers.plugin import CheckerPlugin
from models.wording import counted
from schemas import Envelope
from streams.group_offsets import commits
from streams.record_lines import Line
from streams.record_sender import past_records, send_again

_RATE = click.FloatRange(0, 1, min_open=True)
_PRICED = 10
"""Records that are checked to estimate the cost."""


@click.command()
@click.option("--checker", required=True, metavar="NAME", help="The checker; no other checks them.")
@click.option("--since", type=MOMENT, required=True, metavar="T", help="From: 90m, 24h or 7d ago, or 2026-11-20T08:00.")
@click.option("--until", type=MOMENT, metavar="T", help="To, likewise. Default: now.")
@click.option("--source", metavar="S", help="Only records of this source.")
@click.option("--sample", type=_RATE, default=1.0, metavar="RATE", help="Sampling rate, by their ids: 0.1 is a tenth.")
@click.option("--limit", type=NUMBER, default=10_000, show_default=True, metavar="N", help="The first N at most.")
@click.option("--yes", is_flag=True, help="Do not ask before they are sent.")
@configured
def recheck(
    *,
    loaded: Configuration,
    checker: str,
    since: datetime,
    until: datetime | None,
    source: str | None,
    sample: float,
    limit: int,
    yes: bool,
) -> None:
    """Let a new checker, or one with a new configuration, check outputs that are already on the topic.

    A few are checked here first to estimate the cost of all; then it asks. The rest go to the end of the topic. Their
    verdicts are marked `rechecked`; no rate counts them and they raise no alert.
    """
    plugins = loaded.installed.select([checker])
    until = min(until or datetime.now(UTC), datetime.now(UTC))
    if since >= until:
        raise WrongUse(f"--since {since:%Y-%m-%dT%H:%M} is not before --until {until:%Y-%m-%dT%H:%M}")

    def wanted(record: Envelope) -> bool:
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        drawn = sample == 1.0 or sample_point(record.source, record.id) < sample
        return drawn and kind in plugins[0].kinds and source in {None, record.source}

    def past() -> AsyncGenerator[Any, None]:
        return past_records(loaded.streams, wanted, since=since, until=until, limit=limit)

    topics, group = loaded.streams.topics, f"{loaded.streams.topics.prefix}.{checker}"
    if not asyncio.run(commits(loaded.streams.kafka, topics.outputs, [group]))[group]:
        raise NotFinished(f"{checker} has not started: run a worker with it first")
    download_models(loaded)
    found, costs = asyncio.run(_priced(loaded, plugins, past()))
    if not found:
        raise NotFinished(f"no record on {topics.outputs} in that time that {checker} checks")
    click.echo("\n".join(costs), err=True)
    if not yes:
        if not sys.stdin.isatty():
            raise WrongUse("standard input is not a terminal; give --yes to send them")
        click.confirm(f"Send {counted(found, 'record')} to {checker}?", abort=True, err=True)
    sent = asyncio.run(send_again(loaded.streams, past(), checker, _report))
    click.echo(f"{sent} sent to {topics.outputs} for {checker}", err=True)


def _report(number: int, why: str) -> None:
    click.echo(f"record {number} was not sent: {why}", err=True)


async def _priced(
    loaded: Configuration, plugins: list[CheckerPlugin], messages: AsyncGenerator[Any, None]
) -> tuple[int, list[str]]:
    """The number of records, and their cost estimated from some that are checked."""
    found = 0

    async def lines() -> AsyncIterator[Line]:
        nonlocal found
        async with aclosing(messages):
            async for message in messages:
                found += 1
                yield Line(found, message.value, length=len(message.value), end=0)

    drawn, patience = FileSample(lines(), _PRICED), ModelPatience(lambda note: click.echo(note, err=True))
    async with wired(loaded, plugins) as service:
        begun = time.monotonic()
        await configured_check(service.checkers, loaded, patience, strict=False).run(drawn.lines(), drawn.add)
        seconds = time.monotonic() - begun
    if patience.lost:
        raise NotFinished("the judge does not answer")
    return found, list(drawn.report(seconds))
