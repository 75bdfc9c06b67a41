"""`assay verdicts`, of the store or the topics; `assay alerts`; `assay failures`: what rejects have in common."""

import asyncio
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click
from pydantic import TypeAdapter

from assay.cli.common import NUMBER, NotFinished, WrongUse, configured, moment, selection
from assay.config import Configuration
from assay.messages import opened_store, report_broker, stored_verdicts
from assay.reports import VerdictPrinter, indented
from checkers.wording import labelled, plain
from models.wording import counted
from schemas import OUTCOMES, Alert, SeriesAnew, TrueRateAlert, Verdict, to_json
from streams.lookup import RecordLookup
from streams.topic_reader import TopicView

if TYPE_CHECKING:
    from store.failures import Failures


@click.command()
@click.option("--follow", is_flag=True, help="Then keep running and show new ones until Ctrl-C.")
@click.option(
    "--outcome", "outcomes", multiple=True, type=click.Choice(OUTCOMES), help="Only this outcome; may be repeated."
)
@click.option("--source", "sources", multiple=True, metavar="S", help="Only of this source; may be repeated.")
@click.option("--model", "models", multiple=True, metavar="M", help="Only about this model; may be repeated.")
@click.option("--checker", "checkers", multiple=True, metavar="C", help="Only of this checker; may be repeated.")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Of this verdict or record, with all evidence.")
@click.option("--since", type=moment, metavar="T", help="Only those since: 90m, 24h or 7d ago, or 2026-11-20T08:00.")
@click.option("--limit", type=NUMBER, metavar="N", help="Only the latest N.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON lines.")
@configured
def verdicts(
    *,
    loaded: Configuration,
    follow: bool,
    outcomes: tuple[str, ...],
    sources: tuple[str, ...],
    models: tuple[str, ...],
    checkers: tuple[str, ...],
    ids: tuple[str, ...],
    since: datetime | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show verdicts with their reasons, oldest first.

    They are read from the store if one is configured (store.url; no broker is needed then), else from their topics.
    """
    if follow and limit:
        raise WrongUse("--limit and --follow exclude each other")
    # The name in verdicts on records that no checker checks.
    loaded.installed.select([name for name in checkers if name != "none"])
    wanted = {"sources": sources, "models": models, "checkers": checkers, "outcomes": outcomes}
    topics = loaded.streams.topics
    of = dict(zip(OUTCOMES, (topics.accepted, topics.rejected, topics.abstained), strict=True))
    read = [topic for name, topic in of.items() if name in (outcomes or of)]
    view = TopicView(loaded.streams.kafka, read, TypeAdapter(Verdict), report_broker)
    printer = VerdictPrinter([*loaded.installed.plugins.values()])
    missing = dict.fromkeys(ids)

    def show(verdict: Verdict) -> None:
        for identifier in (verdict.id, verdict.record_id):
            missing.pop(identifier, None)
        lines = [to_json(verdict)] if as_json else printer.whole(verdict) if ids else printer.lines(verdict)
        for line in lines:
            click.echo(line)

    async def show_all() -> None:
        url, shown = loaded.store.url, 0
        found = view.messages(follow=follow) if url is None else stored_verdicts(url, follow=follow, ids=ids, **wanted)
        latest: deque[Verdict] = deque(maxlen=limit)
        async for verdict in found:
            if _takes(verdict, wanted, ids, since):
                shown += 1
                show(verdict) if limit is None else latest.append(verdict)
        for verdict in latest:
            show(verdict)
        shown = min(shown, limit or shown)
        told = view.summary("verdict", shown) if url is None else [f"{counted(shown, 'verdict')} in the store"]
        click.echo("\n".join(told), err=True)
        if missing:
            raise NotFinished(f"no such verdict or record: {', '.join(missing)}")

    asyncio.run(show_all())


def _takes(
    verdict: Verdict, wanted: Mapping[str, Collection[str]], ids: Collection[str], since: datetime | None
) -> bool:
    """True if each field has one of the wanted values; none given means all."""
    named = all(not values or getattr(verdict, field[:-1]) in values for field, values in wanted.items())
    by_id = not ids or not {verdict.id, verdict.record_id}.isdisjoint(ids)
    return named and by_id and (since is None or verdict.checked_at >= since)


@click.command()
@click.option("--follow", is_flag=True, help="Then keep running and show new ones until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print the alerts as JSON lines.")
@configured
def alerts(*, loaded: Configuration, follow: bool, as_json: bool) -> None:
    """Show alerts, oldest first: the model, its success rates, and the rejected records."""
    settings = loaded.streams
    form: TypeAdapter[Alert | SeriesAnew | TrueRateAlert] = TypeAdapter(Alert | SeriesAnew | TrueRateAlert)
    view = TopicView(settings.kafka, [settings.topics.alerts], form, report_broker)
    printer = VerdictPrinter([*loaded.installed.plugins.values()])

    async def show() -> None:
        async with RecordLookup(settings).running() as lookup:
            async for alert in view.messages(follow=follow):
                if as_json:
                    click.echo(to_json(alert))
                    continue
                async for line in printer.alert(alert, lookup):
                    click.echo(line)
        for line in view.summary("alert"):
            click.echo(line, err=True)

    asyncio.run(show())


_SERIES, _GROUPS = 12, 5


@click.command()
@selection
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each series instead.")
@configured
def failures(
    *, loaded: Configuration, since: datetime | None, until: datetime | None, as_json: bool, **named: str | None
) -> None:
    """Show what rejects of the last 24 hours have in common that accepts of the same series do not.

    Documents, metadata, tenants, hours, judges and configurations are compared by exact tests, corrected for how many
    there are; other rejects are grouped by similar faults. The series with most rejects come first. Reads the store
    (store.url); no broker is needed.
    """
    end = until or datetime.now(UTC)
    begin = since or end - timedelta(days=1)
    if begin >= end:
        raise WrongUse("--since is not before --until")
    with opened_store(loaded.store.url) as reader:
        from store.failures import read_failures, rejecting

        chosen = [*rejecting(reader, begin, end, **named)]
        for one in chosen[:_SERIES]:
            report = read_failures(reader, one, begin, end, compared=1000)
            click.echo(report.model_dump_json() if as_json else "\n".join(_lines(report)))
    more = f"; the {_SERIES} with most are shown" if len(chosen) > _SERIES else ""
    click.echo(f"{len(chosen)} series with rejects in that time{more}", err=True)


def _lines(report: "Failures") -> Iterator[str]:
    rejects, accepts = report.compared
    yield click.style(plain(f"{report.source} / {report.model}  by {report.checker}"), bold=True)
    said = f"{report.rejects} rejects and {report.accepts} accepts since {report.begin:%Y-%m-%dT%H:%M}Z"
    common = [one.line for one in report.common] or ["nothing that chance does not explain"]
    told = [
        ("", f"{said}; compared are {rejects} and {accepts}, drawn evenly"),
        *(("common: ", line) for line in common),
        *(("fault:  ", f"{times} of {rejects}: {fault}") for fault, times in report.faults),
        *((f"{len(group.ids):5}x  ", group.reason) for group in report.unexplained[:_GROUPS]),
    ]
    if rest := sum(len(group.ids) for group in report.unexplained[_GROUPS:]):
        told.append(("", f"and {rest} more in smaller groups"))
    for label, text in told:
        yield from indented(labelled(label, text))
