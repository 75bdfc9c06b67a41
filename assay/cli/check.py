"""`assay check`: records from a file, verdicts as JSON lines."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
import orjson

from assay.cli.files import reading, size_of, writing
from assay.cli.front_door import REJECTED, configuration, download_models, quiet_logs, selected
from checkers.front_door import NotFinished, config_option, run_errors

if TYPE_CHECKING:
    from assay.config import Configuration
    from assay.dry_run import DryRun
    from assay.summary import Summary
    from checkers.plugin import CheckerPlugin


@click.command(short_help="Check the records in a file.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--checker", "checkers", multiple=True, metavar="NAME", help="Run only this checker; may be repeated.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File for the verdicts. Default: standard output.",
)
@click.option("--fail-on-reject", is_flag=True, help="Exit with status 1 if anything was rejected.")
@click.option(
    "--dry-run", is_flag=True, help="Ask nothing: print what it would cost, as a table, or as JSON lines to --out."
)
@click.option("--explain/--no-explain", default=True, help="Explain verdicts on standard error, the default, or not.")
@config_option
@click.pass_context
def check(
    ctx: click.Context,
    *,
    file: Path,
    checkers: tuple[str, ...],
    out: Path | None,
    fail_on_reject: bool,
    dry_run: bool,
    explain: bool,
    config_file: Path | None,
) -> None:
    """Check the records in FILE (JSON lines; - is standard input) and write their verdicts as JSON lines, in order.

    Each checker that takes a record's kind gives a verdict. Progress, explanations and a summary go to standard error.
    With --dry-run nothing is asked, and calls, tokens and price are printed by checker.
    """
    loaded = configuration(config_file)
    plugins = selected(loaded, checkers)
    quiet_logs()
    if dry_run:
        _print_cost(loaded, plugins, file, out)
        return
    download_models(loaded)
    with run_errors(), reading(file) as source, writing(out, source=file) as target:
        summary, judge_lost = asyncio.run(_check(loaded, plugins, source, target, explain=explain))
    for line in summary.lines():
        click.echo(line, err=True)
    if summary.unfinished or judge_lost:
        raise NotFinished("not every record could be checked")
    if fail_on_reject and summary.rejected:
        ctx.exit(REJECTED)


def _print_cost(loaded: "Configuration", plugins: "list[CheckerPlugin]", file: Path, out: Path | None) -> None:
    """The table on standard output; with `out`, JSON lines there and the table on standard error."""
    with run_errors(), reading(file) as source, writing(out, source=file) as target:
        dry_run = asyncio.run(_reckon(loaded, plugins, source))
        if out is not None:
            target.writelines(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in dry_run.documents())
    for line in dry_run.lines():
        click.echo(line, err=out is not None)


async def _reckon(loaded: "Configuration", plugins: "list[CheckerPlugin]", source: BinaryIO) -> "DryRun":
    from assay.dry_run import DryRun
    from assay.lines import read_lines
    from assay.wiring import wired

    max_bytes = loaded.streams.records.max_bytes
    async with wired(loaded, plugins) as service:
        dry_run = DryRun(service.checkers, judge=loaded.judge, subjects=loaded.subjects, max_bytes=max_bytes)
        await dry_run.run(read_lines(source, keep_bytes=max_bytes), lambda message: click.echo(message, err=True))
    return dry_run


async def _check(
    loaded: "Configuration", plugins: "list[CheckerPlugin]", source: BinaryIO, target: BinaryIO, *, explain: bool
) -> "tuple[Summary, bool]":
    from assay.file_check import CheckedLine, FileCheck, window_of
    from assay.lines import read_lines
    from assay.progress import progress
    from assay.summary import Summary
    from assay.verdict_printer import VerdictPrinter
    from assay.wiring import wired
    from checkers.patience import ModelPatience
    from schemas import to_json

    printer = VerdictPrinter(plugins)
    summary = Summary([plugin.name for plugin in plugins])
    max_bytes = loaded.streams.records.max_bytes
    # Verdicts on the same terminal as the bar would tear it.
    bar = sys.stderr.isatty() and not target.isatty()
    async with wired(loaded, plugins) as service:
        with progress(bar=bar, total=size_of(source)) as shown:

            def emit(checked: CheckedLine) -> None:
                target.writelines(to_json(verdict, newline=True) for verdict in checked.verdicts)
                if not bar:
                    # Whoever reads along, in a pipe or a file, sees a verdict when it is there.
                    target.flush()
                for verdict in checked.verdicts if explain else ():
                    for line in printer.explained(verdict):
                        shown.say(line)
                for fault in checked.faults:
                    shown.say(f"line {checked.line.number}: {fault}")
                summary.add(checked)
                shown.at(checked.line.end, f"{summary.records} records, {summary.rejected} rejected")

            patience = ModelPatience(shown.say)
            file_check = FileCheck(
                service.checkers,
                max_bytes=max_bytes,
                window=window_of(loaded.judge),
                patience=patience,
            )
            await file_check.run(read_lines(source, keep_bytes=max_bytes), emit)
    target.flush()
    return summary, patience.lost
