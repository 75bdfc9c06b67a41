"""`assay schemas`: the messages' formats for producers and consumers."""

from pathlib import Path

import click

from assay.cli.front_door import configuration
from checkers.front_door import NotFinished, config_option


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
