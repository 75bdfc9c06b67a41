"""`assay topics`: the topics on the broker."""

import asyncio
from pathlib import Path

import click

from assay.cli.front_door import configuration, told
from checkers.front_door import config_option


@click.group()
def topics() -> None:
    """Create the topics."""


@topics.command("create")
@config_option
def create(config_file: Path | None) -> None:
    """Create the topics that do not exist yet."""
    settings = configuration(config_file).streams
    with told():
        from streams.topics import create_topics

        made = asyncio.run(create_topics(settings))
    for topic in settings.topics.all:
        click.echo(f"{topic}: {'created' if topic in made else 'there already'}")
