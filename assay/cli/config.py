"""`assay config`: what the program works with."""

from pathlib import Path

import click

from assay.cli.options import config_option, configuration


@click.group()
def config() -> None:
    """What the program works with."""


@config.command("check")
@config_option
def check_configuration(config_file: Path | None) -> None:
    """Check the configuration and print the effective one, secrets masked, with where each value came from."""
    from assay.effective import lines

    for line in lines(configuration(config_file)):
        click.echo(line)
