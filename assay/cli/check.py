"""`assay check`: records from a file, verdicts as JSON lines."""

import asyncio
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from assay.cli.files import reading, size_of, writing
from assay.cli.front_door import (
    REJECTED,
    NotFinished,
    config_option,
    configuration,
    download_models,
    quiet_logs,
    run_errors,
    selected,
)
from models.wording import counted

if TYPE_CHECKING:
    from assay.config import Configuration
    from assay.junit import JUnitReport
    from assay.progress import Progress
    from assay.sample import Sample
    from assay.summary import Summary
    from assay.verdict_printer import VerdictPrinter
    from checkers.plugin import CheckerPlugin

_LOOK_SECONDS = 0.1


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
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit with status 1 if a smaller share of the decided verdicts was accepted, such as 0.9.",
)
@click.option(
    "--fail-on-abstain",
    type=click.FloatRange(0, 1),
    is_flag=False,
    flag_value=0.0,
    metavar="[SHARE]",
    help="Exit with status 1 if a larger share of the verdicts abstained; without a share, if any did.",
)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the verdicts as a JUnit report, too: a test case for each.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Check only N records, drawn at random, and estimate what the whole file would cost.",
)
@click.option("--strict", is_flag=True, help="Refuse records with a field that is nearly a known one, such as context.")
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
    fail_under: float | None,
    fail_on_abstain: float | None,
    junit: Path | None,
    sample: int | None,
    strict: bool,
    explain: bool,
    config_file: Path | None,
) -> None:
    """Check the records in FILE (JSON lines; - is standard input) and write their verdicts as JSON lines, in order.

    Each checker that takes a record's kind gives a verdict. Progress, explanations and a summary go to standard error.
    With --sample the cost of N records is printed, and with an interval that of all.
    """
    loaded = configuration(config_file)
    plugins = selected(loaded, checkers)
    quiet_logs()
    download_models(loaded)
    with (
        run_errors(),
        reading(file) as source,
        writing(out, source=file) as target,
        nullcontext() if junit is None else writing(junit, source=file) as report_target,
    ):
        from assay.junit import JUnitReport
        from assay.sample import Sample
        from assay.verdict_printer import VerdictPrinter

        printer = VerdictPrinter(plugins)
        report = JUnitReport(printer) if junit else None
        drawn = Sample(sample) if sample else None
        shown = printer if explain else None
        summary, judge_lost = asyncio.run(
            _check(loaded, plugins, source, target, strict=strict, printer=shown, report=report, sample=drawn)
        )
        if report is not None and report_target is not None:
            report.write(report_target, name=str(file))
    for line in (*summary.lines(), *(drawn.report(summary.working_seconds) if drawn and not judge_lost else ())):
        click.echo(line, err=True)
    if summary.unfinished or judge_lost:
        raise NotFinished("not every record could be checked")
    if fail_on_reject or fail_under is not None or fail_on_abstain is not None or summary.records:
        _require_decisions(summary, fail_under)
    if fail_on_reject and summary.rejected:
        ctx.exit(REJECTED)
    if fault := _share_at_fault(summary, fail_under, fail_on_abstain):
        click.echo(fault, err=True)
        ctx.exit(REJECTED)


def _require_decisions(summary: "Summary", fail_under: float | None) -> None:
    """Raise NotFinished if nothing was decided: a judge that is dead must not pass."""
    if not summary.records:
        raise NotFinished("nothing was checked: there is no record in the file")
    if not summary.decided and fail_under is not None:
        raise NotFinished(f"--fail-under {fail_under:g} cannot be held against anything: no verdict accepts or rejects")
    if not summary.decided:
        raise NotFinished(f"nothing was decided: {summary.why_undecided}")


def _share_at_fault(summary: "Summary", fail_under: float | None, fail_on_abstain: float | None) -> str | None:
    """The share that is beyond what is allowed, in words; None if none is."""
    if fail_under is not None and summary.accepted_share < fail_under:
        share = f"{summary.accepted_share:.1%} of {counted(summary.decided, 'decided verdict')}"
        return f"{share} accepted, below --fail-under {fail_under:g}"
    if fail_on_abstain is not None and summary.abstained_share > fail_on_abstain:
        return f"{summary.abstained_share:.1%} of the verdicts abstained, above --fail-on-abstain {fail_on_abstain:g}"
    return None


async def _check(
    loaded: "Configuration",
    plugins: "list[CheckerPlugin]",
    source: BinaryIO,
    target: BinaryIO,
    *,
    strict: bool,
    printer: "VerdictPrinter | None",
    report: "JUnitReport | None",
    sample: "Sample | None",
) -> "tuple[Summary, bool]":
    """Check the records of `source`, explained if there is a `printer`; true if the judge was lost."""
    from assay.file_check import CheckedLine, FileCheck, window_of
    from assay.lines import read_lines
    from assay.progress import progress
    from assay.summary import Summary
    from assay.wiring import wired
    from checkers.model_patience import ModelPatience
    from schemas import to_json

    summary = Summary()
    max_bytes = loaded.streams.records.max_bytes
    # Verdicts on the same terminal as the bar would tear it.
    bar = sys.stderr.isatty() and not target.isatty()
    async with wired(loaded, plugins) as service:
        with progress(size_of(source), bar=bar) as shown:

            def emit(checked: CheckedLine) -> None:
                target.writelines(to_json(verdict, newline=True) for verdict in checked.verdicts)
                if not bar:
                    # Whoever reads along, in a pipe or a file, sees a verdict when it is there.
                    target.flush()
                for verdict in checked.verdicts:
                    for line in () if printer is None else printer.explained(verdict):
                        shown.say(line)
                for fault in checked.faults:
                    shown.say(f"line {checked.line.number}: {fault}")
                summary.add(checked)
                if report is not None:
                    report.add(checked)
                if sample is not None:
                    sample.add(checked)
                shown.at(checked.line.end, f"{summary.records} records, {summary.rejected} rejected")

            patience = ModelPatience(shown.say)
            file_check = FileCheck(
                service.checkers,
                max_bytes=max_bytes,
                window=window_of(loaded.judge),
                patience=patience,
                strict=strict,
            )
            loading = asyncio.create_task(_watch_loading(shown, summary, bar=bar))
            try:
                lines = read_lines(source, keep_bytes=max_bytes)
                await file_check.run(sample.draw(lines) if sample else lines, emit)
            finally:
                loading.cancel()
    target.flush()
    return summary, patience.lost


async def _watch_loading(shown: "Progress", summary: "Summary", *, bar: bool) -> None:
    """Tell of models that are being loaded, and note how long that takes."""
    from models.model_loading import being_loaded

    said: list[str] = []
    before = time.monotonic()
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        now = time.monotonic()
        if names := being_loaded():
            summary.loading_seconds += now - before
            note = f"loading {' and '.join(names)}"
            if not bar and names != said:
                shown.say(f"{note}…")
            elif bar and not summary.records:
                shown.at(0, note)
            said = names
        before = now
