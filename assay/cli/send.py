"""`assay send`: records onto the outputs topic."""

import asyncio
from pathlib import Path

import click

from assay.cli.files import reading
from assay.cli.front_door import NotFinished, config_option, configuration, quiet_logs, told
from assay.lines import read_lines
from checkers.wording import plain


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
        from streams.publisher import Undelivered
        from streams.record_sender import RefusedLine, send_records
        from streams.topics import require_topics

        refused = 0

        def refuse(line: RefusedLine) -> None:
            nonlocal refused
            refused += 1
            click.echo(f"line {line.line} was not sent: {line.reason}: {plain(line.detail)}", err=True)

        lines = read_lines(source, keep_bytes=settings.records.max_bytes)

        async def sent_to_topic() -> int:
            await require_topics(settings.kafka, [settings.topics.outputs])
            return await send_records(settings, lines, refuse)

        try:
            sent = asyncio.run(sent_to_topic())
        except Undelivered as error:
            raise NotFinished(f"the broker stopped taking records: {error}") from None
    click.echo(f"{sent} sent to {settings.topics.outputs}, {refused} refused", err=True)
    if refused:
        raise NotFinished("not every line is a record")
