"""Commands to prepare with: `assay config check`, `assay schemas export`, `assay topics create`."""

import asyncio
from pathlib import Path

import click

from assay.cli.front_door import NotFinished, config_option, configuration, quiet_logs, told
from assay.effective import lines


@click.group()
def config() -> None:
    """Check the configuration."""


@config.command("check")
@config_option
def check_configuration(config_file: Path | None) -> None:
    """Check the configuration and print the one in force: each value with its origin, secrets masked."""
    for line in lines(configuration(config_file)):
        click.echo(line)


@click.group(short_help="Export the messages' schemas.")
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
@config_option
def create_topics(config_file: Path | None) -> None:
    """Create the topics that do not exist yet."""
    settings = configuration(config_file).streams
    quiet_logs()
    with told():
        from streams.topics import create_topics

        made = asyncio.run(create_topics(settings))
    for topic in settings.topics.all:
        click.echo(f"{topic}: {'created' if topic in made else 'there already'}")
