"""`assay probes run`: what subjects know of a corpus, head and tail apart."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from assay.cli.front_door import config_option, configuration, models_of, print_figures, quiet_logs, run_errors
from assay.progress import progress
from checkers.longtail.settings import Way

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.probes.results import ProbeTable
    from lab.probes.run import ProbeOptions


@click.command("run", short_help="Ask models about statements, head and tail apart.")
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="M",
    help="A subject by its name in the configuration; may be given several times. Default: the only subject.",
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    type=click.Choice(get_args(Way)),
    default=("zero-shot",),
    show_default=True,
    help="Ask for the answer alone, or for reasoning first; may be given twice.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="At most N statements of each domain and distribution."
)
@click.option("--seed", type=int, default=0, show_default=True, help="What all draws are made of.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a line a probe; resumable.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@config_option
def run(
    *,
    data: Path,
    models: tuple[str, ...],
    ways: tuple[Way, ...],
    limit: int | None,
    seed: int,
    out: Path | None,
    as_json: bool,
    config_file: Path | None,
) -> None:
    """Ask models about the statements in DATA, each in 13 ways, and count the right answers.

    DATA is a file of statements, or the folder that `assay probes build` wrote. The figures are by domain, head and
    tail, and apart for probes that are to be affirmed (positive) and denied (negative). With --out an interrupted run
    continues where it stopped.
    """
    configured = configuration(config_file)
    quiet_logs()
    with run_errors(resumable=out is not None):
        from lab.probes.run import ProbeOptions

        options = ProbeOptions(models=models, ways=ways, limit=limit, seed=seed)
        table = asyncio.run(_run(configured, options, data, out))
    print_figures(table, as_json=as_json)


async def _run(configured: "Configuration", options: "ProbeOptions", data: Path, out: Path | None) -> "ProbeTable":
    from checkers.patience import ModelPatience
    from lab.probes.results import ProbeResult, ProbeTable
    from lab.probes.run import ProbeRun
    from lab.run_journal import RunJournal

    async with models_of(configured) as models:
        probing = ProbeRun(options, data, configured, models)
        table = ProbeTable(probing.runs)
        of = "corpus, model, way, seed or prompts"
        journal = RunJournal(out, probing.identity, ProbeResult, of=of) if out else None
        with ExitStack() as stack:
            if journal is not None:
                for result in journal.results():
                    table.add(result)
                stack.enter_context(journal)
            shown = stack.enter_context(progress(probing.count))
            if table.probes:
                shown.say(f"going on after {table.probes} of {probing.count} probes")

            def emit(result: ProbeResult) -> None:
                if journal is not None:
                    journal.add(result)
                table.add(result)
                shown.at(table.probes, f"{table.probes} probes, {table.right} right")

            await probing.over(table.probes, emit, ModelPatience(shown.say))
        if journal is not None:
            journal.finish()
    return table
