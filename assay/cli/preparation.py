"""Commands to prepare with: `assay config check`, `assay schemas export`, `assay topics create`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.front_door import NotFinished, config_option, configuration, quiet_logs, told
from assay.effective import lines

if TYPE_CHECKING:
    from streams.topics import Retention


@click.group()
def config() -> None:
    """Check the configuration."""


@config.command("check")
@config_option
def check_configuration(config_file: Path | None) -> None:
    """Check the configuration and print the one in force: each value with its origin, secrets masked."""
    for line in lines(configuration(config_file)):
        click.echo(line)


@click.group()
def schemas() -> None:
    """Schemas of the messages, for producers and consumers."""


@schemas.command("export")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@config_option
def export_schemas(directory: Path, config_file: Path | None) -> None:
    """Write a JSON Schema for every message and an AsyncAPI document for the topics to DIRECTORY."""
    from schemas.export import export

    prefix = configuration(config_file).streams.topics.prefix
    try:
        written = export(directory, prefix=prefix)
    except OSError as error:
        raise NotFinished(f"{directory} cannot be written: {error.strerror}") from None
    click.echo(f"{len(written)} files in {directory}: {', '.join(path.name for path in written)}")


@click.group()
def topics() -> None:
    """Create the topics."""


@topics.command("create")
@click.option("--alter", is_flag=True, help="Give topics that are there already the retention that is configured.")
@config_option
def create_topics(alter: bool, config_file: Path | None) -> None:
    """Create the topics that do not exist yet, and say for how long each keeps messages."""
    settings = configuration(config_file).streams
    quiet_logs()
    with told():
        from streams.topics import Retention, alter_retentions, create_topics, retentions

        async def work() -> tuple[list[str], list[str], dict[str, Retention]]:
            made = await create_topics(settings)
            kept = await retentions(settings)
            different = [topic for topic, retention in kept.items() if retention.differs]
            if not (alter and different):
                return made, [], kept
            await alter_retentions(settings, different)
            return made, different, await retentions(settings)

        made, altered, kept = asyncio.run(work())
    for topic in settings.topics.all:
        state = "created" if topic in made else "there already, altered" if topic in altered else "there already"
        click.echo(f"{topic}: {state}{_kept(kept.get(topic))}")


def _kept(retention: "Retention | None") -> str:
    if retention is None:
        return ""
    if retention.compacted:
        return ", keeps the last message of each key"
    origin = " (the brokers' default)" if retention.wanted is None else ""
    wanted = ""
    if retention.wanted is not None and retention.differs:
        wanted = f", and not {_time(retention.wanted)} as topics.retention_days has it: --alter changes that"
    return f", keeps messages {_time(retention.present)}{origin}{wanted}"


def _time(milliseconds: int) -> str:
    if milliseconds < 0:
        return "for ever"
    days = milliseconds / (24 * 3600 * 1000)
    return f"for {days:.3g} day{'' if days == 1 else 's'}"
