"""`assay alerts`: the alerts on their topic."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.front_door import configuration, quiet_logs, told
from checkers.front_door import config_option

if TYPE_CHECKING:
    from schemas import Alert, SeriesAnew
    from streams.settings import StreamSettings

_REMEMBERED = 100_000
"""Ids of alerts shown, so that a repeat is not: a repeat follows within seconds, or a restart's backlog."""

_REASON = 200
"""Characters of a rejected record's reason: what went wrong shows in a line or two."""


@click.command(short_help="Show alerts on trust.")
@click.option("--follow", is_flag=True, help="Then stay and show new ones until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print the alerts as JSON lines.")
@config_option
def alerts(*, follow: bool, as_json: bool, config_file: Path | None) -> None:
    """Show the alerts on their topic, oldest first: the model, its success rates, and the rejected records."""
    settings = configuration(config_file).streams
    quiet_logs()
    with told():
        asyncio.run(_show(settings, follow=follow, as_json=as_json))


async def _show(settings: "StreamSettings", *, follow: bool, as_json: bool) -> None:
    from cachetools import LRUCache
    from pydantic import TypeAdapter, ValidationError

    from schemas import Alert, SeriesAnew, to_json
    from streams.topic_reader import read_topic

    shown: LRUCache[str, None] = LRUCache(maxsize=_REMEMBERED)
    others = 0
    told: TypeAdapter[Alert | SeriesAnew] = TypeAdapter(Alert | SeriesAnew)
    async with aclosing(read_topic(settings.kafka, settings.topics.alerts, follow=follow)) as messages:
        async for message in messages:
            try:
                alert = told.validate_json(message.value or b"")
            except ValidationError:
                others += 1
                continue
            if alert.id in shown:
                continue
            shown[alert.id] = None
            if as_json:
                lines: Iterable[str] = (to_json(alert).decode(),)
            else:
                lines = _lines(alert) if isinstance(alert, Alert) else _anew_lines(alert)
            for line in lines:
                click.echo(line)
    click.echo(f"{len(shown)} alert{'' if len(shown) == 1 else 's'} on {settings.topics.alerts}", err=True)
    if others:
        click.echo(f"{others} message{'' if others == 1 else 's'} there could not be read as an alert", err=True)


def _lines(alert: "Alert") -> Iterator[str]:
    from checkers.wording import plain

    bad = alert.kind == "trust_drop"
    kind = click.style(alert.kind.replace("_", " "), fg="red" if bad else "green", bold=True)
    subject = plain(f"{alert.source} / {alert.model}")
    yield f"{alert.raised_at:%Y-%m-%dT%H:%M:%SZ}  {kind}  {subject}  by {plain(alert.checker)}  {plain(alert.id)}"
    interval = f"{alert.observed_low:.3f} to {alert.observed_high:.3f}"
    baseline = f"baseline {alert.baseline:.3f} ({alert.baseline_from})"
    yield f"    {alert.observed:.3f} of {alert.verdicts} accepted ({interval}), {baseline}"
    yield f"    {plain(alert.summary)}"
    for record in alert.rejected:
        reason = plain(record.reason)
        short = reason if len(reason) <= _REASON else f"{reason[:_REASON]}…"
        yield f"      {record.checked_at:%Y-%m-%dT%H:%M:%SZ}  {plain(record.record_id)}: {short}"


def _anew_lines(event: "SeriesAnew") -> Iterator[str]:
    from checkers.wording import plain

    subject = plain(f"{event.source} / {event.model}")
    kind = click.style("series anew", bold=True)
    yield f"{event.raised_at:%Y-%m-%dT%H:%M:%SZ}  {kind}  {subject}  by {plain(event.checker)}  {plain(event.id)}"
    yield f"    {plain(event.summary)}"
