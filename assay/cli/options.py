"""What several commands share: the configuration file's option, and reading the configuration."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.failures import WrongUse, told
from checkers.front_door import config_option

if TYPE_CHECKING:
    from assay.config import Configuration
    from checkers.plugin import CheckerPlugin

__all__ = ["config_option", "configuration", "quiet_logs", "selected"]


def configuration(config_file: Path | None) -> "Configuration":
    """The configuration for the command that is running; `config_file` is the one given after its name.

    Raises:
        WrongUse: with a line for every fault.
    """
    with told():
        from assay.config import load_configuration

        loaded = load_configuration(config_file or click.get_current_context().find_root().params.get("config_file"))
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
