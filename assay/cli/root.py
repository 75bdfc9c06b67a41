"""The `assay` command: its options, its commands and their exit status."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import click

from assay.cli.accounts import accounts
from assay.cli.calibrate import calibrate
from assay.cli.check import check
from assay.cli.convert import convert
from assay.cli.demo import demo
from assay.cli.export import export
from assay.cli.front_door import INTERRUPTED, NOT_FINISHED, config_option
from assay.cli.label import label
from assay.cli.preparation import config, schemas, topics
from assay.cli.replay import replay
from assay.cli.send import send
from assay.cli.ui import ui
from assay.cli.verdicts import alerts, verdicts
from assay.cli.worker import worker

ENTRY_POINT_GROUP = "assay.commands"
"""Installed packages add a command by an entry point of this group: a click command."""


class _Root(click.Group):
    """The commands of the service, and those of installed packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_installed()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        target = _installed().get(cmd_name)
        if target is None:
            return None
        command: click.Command = target.load()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; of a misspelt one, the one that was probably meant is named."""
        if self.get_command(ctx, args[0]) is None:
            from schemas import nearest

            if meant := nearest(args[0], self.list_commands(ctx)):
                ctx.fail(f"No such command {args[0]!r}; did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C and a closed pipe end it with an exit status and without a traceback."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Nobody reads the output any more; nothing can be written there, not at shutdown either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            ctx.exit(NOT_FINISHED)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@cache
def _installed() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@config_option
@click.version_option(package_name="assay")
@click.pass_context
def cli(ctx: click.Context, config_file: Path | None) -> None:
    """Verify outputs of language models: accept and reject verdicts with evidence, on Kafka.

    Exit status: 0 done, 1 too much was rejected (check --fail-on-reject, --fail-under) or a record is missing
    (accounts), 2 wrong usage or configuration, 3 could not finish.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False


for _commands in (
    (demo, worker, check, calibrate, label, convert, send, replay),
    (verdicts, alerts, accounts, ui, export, topics, config, schemas),
):
    for _command in _commands:
        cli.add_command(_command)
