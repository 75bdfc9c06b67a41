"""`assay send`: records to their topic; `assay replay`: dead letters back to theirs; `assay recheck`: past records."""

import asyncio
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import click
import orjson

from agents.routing import sample_point
from assay.cli.common import (
    EXISTING,
    EXISTING_OR_DASH,
    NUMBER,
    NotFinished,
    WrongUse,
    configured,
    download_models,
    moment,
    reading,
)
from assay.config import Configuration
from assay.file_check import check_lines, window_of
from assay.reports import FileSample
from checkers.model_patience import ModelPatience
from checkers.plugin import CheckerPlugin
from checkers.wording import plain
from models.wording import counted
from schemas import DeadLetter, DeadLetterReason, Envelope, Unreadable, read_record
from streams.clients import Received
from streams.record_lines import Line, read_lines
from streams.record_sender import past_records, send_again, send_records
from streams.replay import read_dead_letters
from streams.replay import replay as put_back
from streams.settings import StreamSettings
from streams.takeover import commits
from streams.topics import require_topics


@click.command()
@click.argument("file", type=EXISTING_OR_DASH)
@configured
def send(*, loaded: Configuration, file: Path) -> None:
    """Send the records in FILE (JSON lines; - is standard input) to the outputs topic.

    Lines that are not records are named and not sent; the exit status is then 3.
    """
    settings, refused = loaded.streams, 0

    def refuse(line: int, why: str) -> None:
        nonlocal refused
        refused += 1
        click.echo(f"line {line} was not sent: {plain(why)}", err=True)

    async def sent_to_topic() -> int:
        await require_topics(settings.kafka, [settings.topics.outputs])
        return await send_records(settings, read_lines(source, keep_bytes=settings.records.max_bytes), refuse)

    with reading(file) as source:
        sent = asyncio.run(sent_to_topic())
    click.echo(f"{sent} sent to {settings.topics.outputs}, {refused} refused", err=True)
    if refused:
        raise NotFinished("not every line is a record")


_REASON = click.Choice(get_args(DeadLetterReason))


@click.command()
@click.option("--all", "everything", is_flag=True, help="All dead letters.")
@click.option("--reason", "reasons", multiple=True, type=_REASON, metavar="R", help="With this reason; repeatable.")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only the dead letter with this id; may be repeated.")
@click.option("--list", "only_list", is_flag=True, help="List dead letters by reason and source, and send nothing.")
@click.option("--json", "as_json", is_flag=True, help="List whole dead letters as JSON lines.")
@click.option("--with", "corrected", type=EXISTING, help="Send the record in this file instead; needs one --id.")
@configured
def replay(
    *,
    loaded: Configuration,
    everything: bool,
    reasons: tuple[DeadLetterReason, ...],
    ids: tuple[str, ...],
    only_list: bool,
    as_json: bool,
    corrected: Path | None,
) -> None:
    """Send dead letters back to their topic: all, or those with a reason or an id; each once.

    Unreadable messages are skipped: they would become dead letters again.
    """
    if everything and (reasons or ids):
        raise WrongUse("give --all, or --reason and --id")
    if not (everything or reasons or ids or only_list):
        raise WrongUse("choose: --all, --reason R or --id ID; --list shows the dead letters")
    if as_json and not only_list:
        raise WrongUse("--json needs --list")
    payloads = {} if corrected is None else _payload(corrected, ids, loaded.streams.records.max_bytes)
    if only_list:
        asyncio.run(_list(loaded.streams, reasons, ids, as_json=as_json))
    else:
        asyncio.run(_replay(loaded.streams, reasons, ids, payloads))


async def _list(
    settings: StreamSettings, reasons: tuple[DeadLetterReason, ...], ids: tuple[str, ...], *, as_json: bool
) -> None:
    counts: Counter[str] = Counter()
    async for letter, before in read_dead_letters(settings, reasons=reasons, ids=ids):
        source, record = _sender(letter)
        counts[f"{letter.reason} from {plain(source or 'an unknown source')}"] += 1
        if as_json:
            content = letter.model_dump(mode="json") | {"source": source, "record_id": record}
            with contextlib.suppress(UnicodeDecodeError):
                content["payload"] = letter.payload.decode()
                del content["payload_base64"]
            # All ASCII: a message must not control the terminal.
            click.echo(json.dumps(content | {"replayed_before": before}))
            continue
        at = f"{letter.failed_at:%Y-%m-%d %H:%M:%S}  {_place(letter)}{', replayed before' if before else ''}"
        detail = f"{record or 'no record id'}, {letter.payload_bytes} bytes: {letter.detail}"
        for line in (f"  {at}", f"    {letter.id}", f"    {detail}"):
            click.echo(plain(line))
    for group, number in [] if as_json else counts.most_common():
        click.echo(f"{group}: {number}")
    click.echo(f"{counted(counts.total(), 'dead letter')} on {settings.topics.dead_letter}", err=True)


def _sender(letter: DeadLetter) -> tuple[str | None, str | None]:
    """The source and record id in the message, as far as it can be read."""
    content: Any = None
    with contextlib.suppress(orjson.JSONDecodeError):
        content = orjson.loads(letter.payload)
    found = content if isinstance(content, dict) else {}
    named = (found.get("source"), found.get("record_id", found.get("id")))
    # The longest valid one has 256 characters.
    source, record = (value[:256] if isinstance(value, str) and value else None for value in named)
    return source, record


async def _replay(
    settings: StreamSettings, reasons: tuple[DeadLetterReason, ...], ids: tuple[str, ...], payloads: dict[str, bytes]
) -> None:
    counts, skipped, found = Counter[str](), Counter[str](), set[str]()
    async for done in put_back(settings, reasons=reasons, ids=ids, repaired=payloads):
        found.add(done.letter.id)
        if done.status == "unreadable":
            skipped[done.letter.reason] += 1
            continue
        status = done.status.replace("_", " ")
        counts[status] += 1
        detail = f" ({done.detail})" if done.detail else ""
        click.echo(plain(f"{done.letter.id}  {done.letter.reason}  {_place(done.letter)}  {status}{detail}"))
    click.echo(", ".join(f"{number} {status}" for status, number in counts.items()) or "none", err=True)
    if skipped:
        each = ", ".join(f"{number} {reason}" for reason, number in skipped.most_common())
        click.echo(f"{skipped.total()} skipped as unreadable: {each}; --with sends a corrected record", err=True)
    if missing := [identifier for identifier in ids if identifier not in found]:
        raise NotFinished(f"no such dead letter: {', '.join(missing)}")
    if counts["payload lost"] or counts["too large"] or (ids and skipped):
        raise NotFinished("not every dead letter could be replayed")


def _place(letter: DeadLetter) -> str:
    return f"{letter.origin.topic}[{letter.origin.partition}]@{letter.origin.offset}"


def _payload(corrected: Path, ids: tuple[str, ...], max_bytes: int) -> dict[str, bytes]:
    if len(ids) != 1:
        raise WrongUse(f"--with corrects one dead letter: give exactly one --id, not {len(ids)}")
    payload = corrected.read_bytes().strip()
    try:
        read_record(payload, max_bytes=max_bytes)
    except Unreadable as error:
        raise WrongUse(f"{corrected} is not a record: {error.reason}: {error.detail}") from None
    return {ids[0]: payload}


_RATE = click.FloatRange(0, 1, min_open=True)


@click.command()
@click.option("--checker", required=True, metavar="NAME", help="The checker; no other checks them.")
@click.option("--since", type=moment, required=True, metavar="T", help="From: 90m, 24h or 7d ago, or 2026-11-20T08:00.")
@click.option("--until", type=moment, metavar="T", help="To, likewise. Default: now.")
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

    def past() -> AsyncGenerator[Received, None]:
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

    def refuse(number: int, why: str) -> None:
        click.echo(f"record {number} was not sent: {why}", err=True)

    sent = asyncio.run(send_again(loaded.streams, past(), checker, refuse))
    click.echo(f"{sent} sent to {topics.outputs} for {checker}", err=True)


async def _priced(
    loaded: Configuration, plugins: list[CheckerPlugin], messages: AsyncGenerator[Received, None]
) -> tuple[int, list[str]]:
    """The number of records, and their cost estimated from some that are checked."""
    from assay.wiring import wired

    found = 0

    async def lines() -> AsyncIterator[Line]:
        nonlocal found
        async with aclosing(messages):
            async for message in messages:
                found += 1
                value = message.value or b""
                yield Line(found, value, length=len(value), end=0)

    drawn, patience = FileSample(lines(), 10), ModelPatience(lambda note: click.echo(note, err=True))
    async with wired(loaded, plugins) as service:
        begun = time.monotonic()
        limit, window = loaded.streams.records.max_bytes, window_of(loaded)
        await check_lines(service.checkers, drawn.lines(), drawn.add, patience, max_bytes=limit, window=window)
        seconds = time.monotonic() - begun
    if patience.lost:
        raise NotFinished("the judge does not answer")
    return found, list(drawn.report(seconds))
