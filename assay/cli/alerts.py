"""`assay alerts`: the alerts on their topic."""

import asyncio
from pathlib import Path

import click
from pydantic import TypeAdapter

from assay.cli.front_door import config_option, configuration, quiet_logs, told
from assay.cli.topic_view import TopicView
from assay.config import Configuration
from assay.verdict_printer import VerdictPrinter
from schemas import Alert, SeriesAnew, TrueRateAlert, to_json


@click.command(short_help="Show alerts on trust.")
@click.option("--follow", is_flag=True, help="Then stay and show new ones until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print the alerts as JSON lines.")
@config_option
def alerts(*, follow: bool, as_json: bool, config_file: Path | None) -> None:
    """Show the alerts on their topic, oldest first: the model, its success rates, and the rejected records."""
    loaded = configuration(config_file)
    quiet_logs()
    with told():
        asyncio.run(_show(loaded, follow=follow, as_json=as_json))


async def _show(loaded: Configuration, *, follow: bool, as_json: bool) -> None:
    from streams.lookup import RecordLookup

    settings = loaded.streams
    form: TypeAdapter[Alert | SeriesAnew | TrueRateAlert] = TypeAdapter(Alert | SeriesAnew | TrueRateAlert)
    view = TopicView(settings.kafka, [settings.topics.alerts], form)
    async with RecordLookup(settings).running() as lookup:
        printer = VerdictPrinter([*loaded.installed.plugins.values()])
        async for alert in view.messages(follow=follow):
            if as_json:
                click.echo(to_json(alert))
                continue
            async for line in printer.alert(alert, lookup):
                click.echo(line)
    for line in view.summary("alert"):
        click.echo(line, err=True)
