"""`assay send`: records onto the outputs topic."""

import asyncio
from pathlib import Path

import click

from assay.cli.files import reading
from assay.cli.front_door import configuration, quiet_logs, told
from checkers.front_door import NotFinished, config_option


@click.command(short_help="Put the records in a file on the topic.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@config_option
def send(file: Path, config_file: Path | None) -> None:
    """Put the records in FILE (JSON lines; - is standard input) on the outputs topic.

    Lines that are not records are named and not sent; the exit status is then 3.
    """
    settings = configuration(config_file).streams
    quiet_logs()
    with told(), reading(file) as source:
        from assay.lines import bounded_lines
        from checkers.wording import plain
        from streams.publisher import Undelivered
        from streams.record_sender import send_records

        lines = bounded_lines(source, keep_bytes=settings.records.max_bytes)
        try:
            report = asyncio.run(send_records(settings, lines))
        except Undelivered as error:
            raise NotFinished(f"the broker stopped taking records: {error}") from None
    for refused in report.refused:
        click.echo(f"line {refused.line} was not sent: {refused.reason}: {plain(refused.detail)}", err=True)
    click.echo(f"{report.sent} sent to {settings.topics.outputs}, {len(report.refused)} refused", err=True)
    if report.refused:
        raise NotFinished("not every line is a record")
