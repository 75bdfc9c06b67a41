"""`assay probes run`: what subjects know of a corpus, head and tail apart."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from assay.cli.front_door import config_option, configuration, models_of, print_figures, quiet_logs, run_errors
from assay.progress import progress
from checkers.longtail.settings import Way
from lab.approval import approve, yes_option

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.probes.results import ProbeTable
    from lab.probes.run import ProbeOptions


@click.command("run", short_help="Ask models about statements, head and tail apart.")
@click.argument("data", type=click.Path(path_type=Path))
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
@yes_option
@config_option
def run(*, data: Path, out: Path | None, as_json: bool, yes: bool, config_file: Path | None, **options: Any) -> None:
    """Ask models about the statements in DATA, each in 13 ways, and count the right answers.

    DATA is a file of statements, the folder that `assay probes build` wrote, or `bundled` for the small corpus that
    comes with assay. The figures are by domain, head and tail, and apart for probes that are to be affirmed (positive)
    and denied (negative). With --out an interrupted run
    goes on where it stopped.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.kept_answers import UnusableAnswers
    from lab.probes.run import ProbeOptions

    with run_errors(UnusableAnswers, resumable=out is not None):
        table = asyncio.run(_run(configured, ProbeOptions(**options), data, out, yes=yes))
    print_figures(table, as_json=as_json)


async def _run(
    configured: "Configuration", options: "ProbeOptions", data: Path, out: Path | None, *, yes: bool
) -> "ProbeTable":
    from checkers.model_patience import ModelPatience
    from lab.kept_answers import kept_run
    from lab.probes.results import ProbeResult, ProbeTable
    from lab.probes.run import ProbeRun

    def tell(message: str) -> None:
        click.echo(message, err=True)

    async with models_of(configured) as models:
        with kept_run(out, models, tell) as (kept, write):
            probing = ProbeRun(options, data, configured, kept)
            approve(probing.planned(), yes=yes)
            table = ProbeTable(probing.runs)
            with progress(probing.count) as shown:

                def emit(result: ProbeResult) -> None:
                    write(result)
                    table.add(result)
                    shown.at(table.probes, f"{table.probes} probes, {table.right} right")

                await probing.over(emit, ModelPatience(shown.say))
    return table
