"""`assay verdicts`, of the store or the topics, and `assay alerts`."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from datetime import datetime

import click
from pydantic import TypeAdapter

from assay.cli.common import MOMENT, NUMBER, NotFinished, WrongUse, configured
from assay.config import Configuration
from assay.messages import StoreView, report_broker
from assay.verdict_printer import VerdictPrinter
from schemas import OUTCOMES, Alert, SeriesAnew, TrueRateAlert, Verdict, to_json
from streams.lookup import RecordLookup
from streams.topic_reader import TopicView

_OUTCOME = click.Choice(OUTCOMES)


@click.command()
@click.option("--follow", is_flag=True, help="Then keep running and show new ones until Ctrl-C.")
@click.option("--outcome", "outcomes", multiple=True, type=_OUTCOME, help="Only this outcome; may be repeated.")
@click.option("--source", "sources", multiple=True, metavar="S", help="Only of this source; may be repeated.")
@click.option("--model", "models", multiple=True, metavar="M", help="Only about this model; may be repeated.")
@click.option("--checker", "checkers", multiple=True, metavar="C", help="Only of this checker; may be repeated.")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Of this verdict or record, with all evidence.")
@click.option("--since", type=MOMENT, metavar="T", help="Only those since: 90m, 24h or 7d ago, or 2026-11-20T08:00.")
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
    named = {"source": sources, "model": models, "checker": checkers, "outcome": outcomes}

    def takes(verdict: Verdict) -> bool:
        """True if each field has one of the wanted values; none given means all."""
        fields = all(not values or getattr(verdict, field) in values for field, values in named.items())
        fields = fields and (since is None or verdict.checked_at >= since)
        return fields and (not ids or not {verdict.id, verdict.record_id}.isdisjoint(ids))

    view: TopicView[Verdict] | StoreView
    if loaded.store.url is None:
        topics = loaded.streams.topics
        of: dict[str, str] = dict(zip(OUTCOMES, (topics.accepted, topics.rejected, topics.abstained), strict=True))
        view = TopicView(
            loaded.streams.kafka, [of[name] for name in outcomes or of], TypeAdapter(Verdict), report_broker
        )
    else:
        view = StoreView(
            loaded.store.url, sources=sources, models=models, checkers=checkers, outcomes=outcomes, ids=ids
        )
    printer = VerdictPrinter([*loaded.installed.plugins.values()])

    async def show() -> None:
        shown, missing = 0, dict.fromkeys(ids)
        async for verdict in _latest(view, takes, limit, follow=follow):
            shown += 1
            for identifier in (verdict.id, verdict.record_id):
                missing.pop(identifier, None)
            lines = [to_json(verdict)] if as_json else printer.whole(verdict) if ids else printer.lines(verdict)
            for line in lines:
                click.echo(line)
        for line in view.summary("verdict", shown):
            click.echo(line, err=True)
        if missing:
            raise NotFinished(f"no such verdict or record: {', '.join(missing)}")

    asyncio.run(show())


async def _latest(
    view: TopicView[Verdict] | StoreView, takes: Callable[[Verdict], bool], limit: int | None, *, follow: bool
) -> AsyncIterator[Verdict]:
    """The wanted verdicts: all as they come, or the last ones after all are read."""
    latest: deque[Verdict] = deque(maxlen=limit)
    async for verdict in view.messages(follow=follow):
        if not takes(verdict):
            continue
        if limit is None:
            yield verdict
        else:
            latest.append(verdict)
    for verdict in latest:
        yield verdict


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
