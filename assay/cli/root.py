"""The `assay` command: its options, its commands and their exit status."""

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import click

from assay.cli.common import INTERRUPTED, NOT_FINISHED, config_option, run_errors

_COMMANDS = {
    "demo": ("demo", "Check sample records: no Kafka, no key."),
    "worker": ("worker", "Run the service on Kafka."),
    "check": ("check", "Check the records in a file."),
    "compare": ("compare", "Compare the verdicts of two files, or two versions."),
    "calibrate": ("calibrate", "Thresholds with a promise, from labelled records."),
    "judge": ("judge", "Measure the configured judge."),
    "criteria": ("judge", "Try your own criteria on examples."),
    "label": ("label", "Label an output as good or bad."),
    "convert": ("convert", "Make records from tables."),
    "send": ("sending", "Put the records in a file on the topic."),
    "recheck": ("sending", "Check outputs of the past again."),
    "replay": ("sending", "Put dead letters back on their topic."),
    "verdicts": ("verdicts", "Show verdicts."),
    "failures": ("verdicts", "Show what rejects have in common."),
    "alerts": ("verdicts", "Show alerts on trust."),
    "accounts": ("accounts", "Show whether every record was answered."),
    "ui": ("ui", "Show verdicts and their evidence in the browser."),
    "export": ("export", "Export rejected outputs, or labelled records."),
    "topics": ("preparation", "Create the topics."),
    "config": ("preparation", "Check the configuration."),
    "schemas": ("preparation", "Export the messages' schemas."),
}
"""The module of each command, and what it does."""


class _Root(click.Group):
    """The commands of the service, and those of installed packages; modules are imported as they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *_COMMANDS, *_installed()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            command: click.Command = getattr(import_module(f"assay.cli.{_COMMANDS[cmd_name][0]}"), cmd_name)
            return command
        return _installed()[cmd_name].load() if cmd_name in _installed() else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each command; assay's own are not imported for it."""
        lines = []
        for name in self.list_commands(ctx):
            command = None if name in _COMMANDS else self.get_command(ctx, name)
            lines.append((name, command.get_short_help_str() if command else _COMMANDS[name][1]))
        with formatter.section("Commands"):
            formatter.write_dl(lines)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; the error about a misspelt one names the most similar one."""
        if self.get_command(ctx, args[0]) is None:
            from schemas import nearest

            if meant := nearest(args[0], self.list_commands(ctx)):
                ctx.fail(f"No such command {args[0]!r}; did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a user's mistake, Ctrl-C or a closed pipe ends it with a status and without a traceback."""
        try:
            with run_errors():
                return super().invoke(ctx)
        except BrokenPipeError:
            # Nobody reads the output any more: nothing can be written, not at shutdown either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            ctx.exit(NOT_FINISHED)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@cache
def _installed() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="assay.commands")}


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@config_option
@click.version_option(package_name="assay")
@click.pass_context
def cli(ctx: click.Context, config_file: Path | None) -> None:
    """Verify outputs of language models: accept and reject verdicts with evidence, on Kafka.

    Exit status: 0 done, 1 too much was rejected (check --fail-on-reject, --fail-under), an answer is missing (accounts)
    or the judge is inaccurate (judge check), 2 wrong usage or configuration, 3 could not finish.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
