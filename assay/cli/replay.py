"""`assay replay`: dead letters back on the topic they came from."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from assay.cli.front_door import configuration, quiet_logs, told
from checkers.front_door import NotFinished, WrongUse, config_option
from schemas import DeadLetterReason

if TYPE_CHECKING:
    from schemas import DeadLetter
    from streams.settings import StreamSettings


@click.command(short_help="Put dead letters back on their topic.")
@click.option("--list", "only_list", is_flag=True, help="List dead letters and send nothing.")
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    type=click.Choice(get_args(DeadLetterReason)),
    metavar="R",
    help="Only dead letters with this reason; may be repeated.",
)
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only the dead letter with this id; may be repeated.")
@click.option(
    "--with",
    "repaired",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Send the record in this file instead of the dead letter's; needs exactly one --id.",
)
@click.option("--again", is_flag=True, help="Also dead letters that were replayed before.")
@click.option("--dry-run", is_flag=True, help="Show what would be replayed and send nothing.")
@config_option
def replay(
    *,
    only_list: bool,
    reasons: tuple[DeadLetterReason, ...],
    ids: tuple[str, ...],
    repaired: Path | None,
    again: bool,
    dry_run: bool,
    config_file: Path | None,
) -> None:
    """Put dead letters back on the topic they came from: all, or those with a reason or an id; each once."""
    settings = configuration(config_file).streams
    payloads = _payloads(repaired, ids, settings.records.max_bytes)
    quiet_logs()
    with told():
        if only_list:
            asyncio.run(_list(settings, reasons, ids))
        else:
            asyncio.run(_replay(settings, reasons, ids, payloads, dry_run=dry_run, again=again))


async def _list(settings: "StreamSettings", reasons: tuple[DeadLetterReason, ...], ids: tuple[str, ...]) -> None:
    from checkers.wording import plain
    from streams.replay import read_dead_letters

    found = 0
    async for letter, before in read_dead_letters(settings, reasons=reasons, ids=ids):
        found += 1
        click.echo(f"{_line(letter)}  {letter.payload_bytes} bytes{', replayed before' if before else ''}")
        click.echo(f"    {plain(letter.detail)}")
    click.echo(f"{found} dead letters on {settings.topics.dead_letter}", err=True)


async def _replay(
    settings: "StreamSettings",
    reasons: tuple[DeadLetterReason, ...],
    ids: tuple[str, ...],
    payloads: dict[str, bytes],
    *,
    dry_run: bool,
    again: bool,
) -> None:
    from streams.publisher import Undelivered
    from streams.replay import replay as put_back

    counts: Counter[str] = Counter()
    found = set()
    try:
        async for done in put_back(settings, reasons=reasons, ids=ids, repaired=payloads, dry_run=dry_run, again=again):
            counts[done.status] += 1
            found.add(done.letter.id)
            detail = f" ({done.detail})" if done.detail else ""
            click.echo(f"{_line(done.letter)}  {done.status.replace('_', ' ')}{detail}")
    except Undelivered as error:
        raise NotFinished(f"the broker stopped taking records: {error}") from None
    click.echo(
        ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in counts.items()) or "none", err=True
    )
    missing = [identifier for identifier in ids if identifier not in found]
    if missing:
        raise NotFinished(f"no such dead letter: {', '.join(missing)}")
    if counts["payload_lost"] or counts["too_large"]:
        raise NotFinished("not every dead letter could be replayed")


def _line(letter: "DeadLetter") -> str:
    return f"{letter.id}  {letter.reason}  {letter.origin.topic}[{letter.origin.partition}]@{letter.origin.offset}"


def _payloads(repaired: Path | None, ids: tuple[str, ...], max_bytes: int) -> dict[str, bytes]:
    if repaired is None:
        return {}
    if len(ids) != 1:
        raise WrongUse(f"--with repairs one dead letter: give exactly one --id, not {len(ids)}")
    from schemas import Unreadable, read_record

    payload = repaired.read_bytes().strip()
    try:
        read_record(payload, max_bytes=max_bytes)
    except Unreadable as error:
        raise WrongUse(f"{repaired} holds no record: {error.reason}: {error.detail}") from None
    return {ids[0]: payload}
