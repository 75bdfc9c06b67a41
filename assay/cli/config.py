"""`assay config`: the configuration in force."""

from pathlib import Path

import click

from assay.cli.front_door import configuration
from checkers.front_door import config_option


@click.group()
def config() -> None:
    """Check the configuration."""


@config.command("check")
@config_option
def check_configuration(config_file: Path | None) -> None:
    """Check the configuration and print the one in force: each value with its origin, secrets masked."""
    from assay.effective import lines

    for line in lines(configuration(config_file)):
        click.echo(line)
