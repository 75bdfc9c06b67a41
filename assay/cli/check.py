"""`assay check`: verdicts on the records of a file, for a person or as JSON lines."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import click

from assay.cli.common import (
    EXISTING_OR_DASH,
    NUMBER,
    OUTPUT,
    RATE,
    REJECTED,
    NotFinished,
    Progress,
    configured,
    download_models,
    out_option,
    progress,
    reading,
    size_of,
    writing,
)
from assay.config import Configuration
from assay.file_check import CheckedLine, check_lines, window_of
from assay.reports import FileSample, JUnitReport, Summary, VerdictPrinter
from checkers.checker import Models
from checkers.model_patience import ModelPatience
from checkers.plugin import CheckerPlugin
from models.model_loading import being_loaded
from models.wording import counted
from schemas import to_json
from streams.record_lines import Line, read_lines


@dataclass(slots=True, kw_only=True)
class _Run:
    """A check of a file, and the output of each verdict."""

    target: BinaryIO
    writes_json: bool
    printer: VerdictPrinter | None
    shown: Progress
    summary: Summary
    counts: list[Summary | JUnitReport | FileSample] = field(default_factory=list)

    def emit(self, checked: CheckedLine) -> None:
        for verdict in checked.verdicts:
            if self.writes_json:
                self.target.write(to_json(verdict, newline=True))
            lines = [*self.printer.lines(verdict)] if self.printer else []
            # An acceptance without an explanation is not printed next to its JSON.
            for line in lines if len(lines) > 1 or not self.writes_json else ():
                self.shown.say(line)
        # A reader of the pipe or file sees each verdict at once.
        self.target.flush()
        for fault in checked.faults:
            self.shown.say(f"line {checked.line.number}: {fault}")
        for one in self.counts:
            one.add(checked)
        self.shown.at(checked.line.end, f"{self.summary.records} records, {self.summary.rejected} rejected")

    async def watch_loading(self) -> None:
        """Show models that are being loaded, and count the time."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(0.1)
            now = time.monotonic()
            if names := being_loaded():
                self.summary.loading_seconds += now - before
                if not self.summary.records:
                    self.shown.at(0, f"loading {' and '.join(names)}")
            before = now


@click.command()
@click.argument("file", type=EXISTING_OR_DASH)
@click.option("--checker", "checkers", multiple=True, metavar="NAME", help="Run only this checker; may be repeated.")
@out_option("verdicts")
@click.option("--fail-on-reject", is_flag=True, help="Exit with status 1 if anything was rejected.")
@click.option("--fail-under", type=RATE, metavar="RATE", help="Exit with status 1 if less of what is decided accepts.")
@click.option("--junit", type=OUTPUT, metavar="FILE", help="Also write a JUnit report: a test case for each verdict.")
@click.option("--sample", type=NUMBER, metavar="N", help="Check only N drawn at random, and estimate the cost of all.")
@click.option("--strict", is_flag=True, help="Refuse records with a misspelt field, such as context for contexts.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON lines on a terminal, too, and no explanations.")
@configured
@click.pass_context
def check(
    ctx: click.Context,
    *,
    loaded: Configuration,
    file: Path,
    checkers: tuple[str, ...],
    out: Path | None,
    fail_on_reject: bool,
    fail_under: float | None,
    junit: Path | None,
    sample: int | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Check the records in FILE (JSON lines; - is standard input), in order.

    Each checker of a record's kind gives a verdict. A terminal shows verdicts in words; --out, --json, a pipe or a file
    gets them as JSON lines. Progress, explanations and a summary go to standard error. --sample prints the cost of N
    records, and the estimated cost of all with an interval. With --out, an endpoint's answers are kept in OUT.answers
    until all is checked: a run that was broken off asks nothing twice.
    """
    plugins = loaded.installed.select(checkers)
    download_models(loaded)
    printer, summary = VerdictPrinter(plugins), Summary()
    report = JUnitReport(printer)
    with (
        reading(file) as source,
        writing(out, source=file) as target,
        nullcontext() if junit is None else writing(junit, source=file) as report_target,
    ):
        lines = read_lines(source, keep_bytes=loaded.streams.records.max_bytes)
        drawn = FileSample(lines, sample) if sample else None
        writes_json = out is not None or as_json or not (target.isatty() and sys.stderr.isatty())
        # JSON on the terminal of the bar would tear it.
        bar = sys.stderr.isatty() and not (writes_json and target.isatty())
        with progress(size_of(source), bar=bar) as shown:
            run = _Run(
                target=target,
                writes_json=writes_json,
                printer=None if as_json else printer,
                shown=shown,
                summary=summary,
                counts=[summary, *([report] if junit else []), *([drawn] if drawn else [])],
            )
            patience = ModelPatience(shown.say)
            asyncio.run(
                _check(run, loaded, plugins, drawn.lines() if drawn else lines, patience, out=out, strict=strict)
            )
        if report_target is not None:
            report.write(report_target, name=str(file))
    costs = drawn.report(summary.working_seconds) if drawn and not patience.lost else ()
    click.echo("\n".join([*summary.lines(), *costs]), err=True)
    if summary.unfinished or patience.lost:
        raise NotFinished("not every record could be checked")
    if not summary.records and (fail_on_reject or fail_under is not None):
        raise NotFinished("nothing was checked: there is no record in the file")
    if summary.records and not summary.decided:
        # A run whose judge is down must not pass.
        raise NotFinished(f"nothing was decided: {summary.why_undecided}")
    too_few = fail_under is not None and summary.accepted_rate < fail_under
    if too_few and not (fail_on_reject and summary.rejected):
        rate = f"{summary.accepted_rate:.1%} of {counted(summary.decided, 'decided verdict')}"
        click.echo(f"{rate} accepted, below --fail-under {fail_under:g}", err=True)
    if too_few or (fail_on_reject and summary.rejected):
        ctx.exit(REJECTED)


async def _check(
    run: _Run,
    loaded: Configuration,
    plugins: list[CheckerPlugin],
    lines: AsyncIterator[Line],
    patience: ModelPatience,
    *,
    out: Path | None,
    strict: bool,
) -> None:
    from assay.kept_answers import keeping
    from assay.wiring import wired

    with ExitStack() as kept:

        def keep(models: Models) -> Models:
            return kept.enter_context(keeping(out, models, lambda: not (patience.lost or run.summary.unfinished)))

        async with wired(loaded, plugins, keep) as service:
            watching = asyncio.create_task(run.watch_loading())
            try:
                limit, window = loaded.streams.records.max_bytes, window_of(loaded)
                await check_lines(
                    service.checkers, lines, run.emit, patience, max_bytes=limit, window=window, strict=strict
                )
            finally:
                watching.cancel()
