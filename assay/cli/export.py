"""`assay export`: rejected outputs for those who improve models."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from assay.cli.failures import NotFinished, told
from assay.cli.files import writing
from assay.cli.options import config_option, configuration, quiet_logs

if TYPE_CHECKING:
    from assay.exporting.rejected import Export, Form

_FORMS = ("verdicts", "corrections", "preferences")


class _Moment(click.ParamType):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        from schemas.base import as_utc

        try:
            return as_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))
        except ValueError:
            self.fail(f"{value!r} is no time; expected RFC 3339, such as 2026-11-16T08:00:00Z", param, ctx)


@click.group(short_help="Rejected outputs, for those who improve models.")
def export() -> None:
    """Rejected outputs, for those who improve models."""


@export.command("rejected")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default="verdicts",
    show_default=True,
    help="Records beside their verdicts; or, of what was improved, examples for fine-tuning or preference pairs.",
)
@click.option("--source", metavar="S", help="Only of this source.")
@click.option("--model", metavar="M", help="Only of this subject.")
@click.option("--checker", metavar="C", help="Only what this checker rejected.")
@click.option("--since", type=_Moment(), metavar="T", help="Only what was rejected or improved at this time or later.")
@click.option("--until", type=_Moment(), metavar="T", help="Only what was rejected or improved before this time.")
@click.option("--out", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), help="Write lines here.")
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
    """Write rejected outputs as JSON lines, from the topics as they are now; a summary goes to standard error.

    Each verdict or improvement once. A record that its topic no longer holds is named in the summary: beside its
    verdict stands null, and corrections and preferences leave it out.
    """
    settings = configuration(config_file).streams
    quiet_logs()
    with told():
        from assay.exporting.rejected import Export, topic_of
        from assay.exporting.report import Report
        from assay.exporting.selection import Selection
        from checkers.wording import plain

        selection = Selection(source=source, model=model, checker=checker, since=since, until=until)
        report = Report(topic_of(form, settings.topics))
        with writing(out) as target:
            try:
                asyncio.run(_write(Export(settings=settings, form=form, selection=selection, report=report), target))
            except BrokenPipeError:
                raise
            except OSError as error:
                raise NotFinished(f"writing failed: {error.strerror}") from None
    for line in report.summary():
        click.echo(plain(line), err=True)


async def _write(wanted: "Export", target: BinaryIO) -> None:
    async for line in wanted.lines():
        target.write(line)
    target.flush()
