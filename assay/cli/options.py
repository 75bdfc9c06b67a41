"""What several commands share: the configuration file's option, and reading the configuration."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.failures import WrongUse, told

if TYPE_CHECKING:
    from assay.config import Configuration
    from checkers.checker import CheckerPlugin

config_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Configuration file; without it assay.toml in the current folder, where there is one.",
)


def configuration(config_file: Path | None) -> "Configuration":
    """The configuration for the command that is running; `config_file` is the one given after its name.

    Raises:
        WrongUse: with a line for every fault.
    """
    with told():
        from assay.config import load_configuration

        loaded = load_configuration(config_file or click.get_current_context().find_object(Path))
    for warning in loaded.warnings:
        click.secho(f"warning: {warning}", err=True, fg="yellow")
    return loaded


def selected(loaded: "Configuration", names: Collection[str]) -> "list[CheckerPlugin]":
    """The checkers of these names, all installed ones where there are none.

    Raises:
        WrongUse: there is no such checker, or none at all.
    """
    from assay.plugins import UnknownChecker

    try:
        plugins = loaded.installed.select(names)
    except UnknownChecker as error:
        raise WrongUse(str(error)) from None
    if not plugins:
        raise WrongUse("no checker is installed")
    return plugins


def quiet_logs(level: str = "error") -> None:
    """For commands that answer a person: only what is worse than their own messages is logged, on standard error."""
    import logging

    from streams.logs import configure_logs

    configure_logs(level)
    # What it says about a broker that is away, the command says in one line.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
