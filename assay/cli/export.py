"""`assay export`: rejected outputs for those who improve models."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from assay.cli.files import writing
from assay.cli.front_door import config_option, configuration, quiet_logs, run_errors
from checkers.wording import plain
from schemas.base import as_utc

if TYPE_CHECKING:
    from assay.rejected_export import Export, Form
    from streams.lookup import ResultHeader


class _Moment(click.ParamType):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return as_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))
        except ValueError:
            self.fail(f"{value!r} is no time; expected RFC 3339, such as 2026-11-16T08:00:00Z", param, ctx)


@click.group(short_help="Export rejected outputs.")
def export() -> None:
    """Export rejected outputs, to improve models."""


@export.command("rejected")
@click.option(
    "--format",
    "form",
    type=click.Choice(["verdicts", "corrections", "preferences"]),
    default="verdicts",
    show_default=True,
    help="Records with their verdicts; or, of improved responses, examples for fine-tuning or preference pairs.",
)
@click.option("--source", metavar="S", help="Only records of this source.")
@click.option("--model", metavar="M", help="Only records of this model.")
@click.option("--checker", metavar="C", help="Only verdicts of this checker.")
@click.option(
    "--since", type=_Moment(), metavar="T", help="Only what was rejected or improved at this time (RFC 3339) or later."
)
@click.option("--until", type=_Moment(), metavar="T", help="Only what was rejected or improved before this time.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File for the lines. Default: standard output.",
)
@config_option
def rejected(
    *,
    form: "Form",
    source: str | None,
    model: str | None,
    checker: str | None,
    since: datetime | None,
    until: datetime | None,
    out: Path | None,
    config_file: Path | None,
) -> None:
    """Write the rejected outputs as JSON lines, each once; a summary goes to standard error.

    They are read from the store where there is one (store.url), else from the topics, and the records from theirs.
    The summary names records that their topic no longer holds. Their verdicts have null for the record; corrections
    and preferences leave them out.
    """
    loaded = configuration(config_file)
    quiet_logs()
    with run_errors():
        from assay.rejected_export import Export

        def takes(header: "ResultHeader") -> bool:
            return (
                source in {None, header.source}
                and model in {None, header.model}
                and checker in {None, header.checker}
                and (since is None or header.at >= since)
                and (until is None or header.at < until)
            )

        wanted = Export(loaded.streams, form, takes, store=loaded.store.url)
        with writing(out) as target:
            asyncio.run(_write(wanted, target))
    for line in wanted.summary():
        click.echo(plain(line), err=True)


async def _write(wanted: "Export", target: BinaryIO) -> None:
    async for line in wanted.lines():
        target.write(line)
    target.flush()
