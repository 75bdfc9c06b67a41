"""`assay trust`: the No-Data Algorithm over a file of datapoints."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.front_door import config_option, configuration, models_of, print_figures, quiet_logs, run_errors
from assay.progress import progress

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.labelling.datapoints import Datapoints
    from lab.labelling.results import LabellingTally
    from lab.labelling.run import CorpusOptions


@click.command("trust", short_help="Trust in a labeller over a file of datapoints.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--rubric",
    "rubrics",
    multiple=True,
    required=True,
    metavar="R",
    help="A rubric file, or the name of one in labelling.rubrics; k labels take k - 1 of them.",
)
@click.option(
    "--evaluator",
    default="llm",
    metavar="E",
    help="The labeller: llm:SUBJECT or call:MODULE:NAME. Default: the model that a record names, or the only subject.",
)
@click.option(
    "--x", "x", default="x", show_default=True, metavar="FIELD", help="The datapoint's field; a.b for one in a."
)
@click.option("--y", "y", default="y", show_default=True, metavar="FIELD", help="The field of a label to compare with.")
@click.option(
    "--rounds", type=click.IntRange(1, 20), help="Challenges to pass; 3 unless labelling.rounds says otherwise."
)
@click.option(
    "--phi", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Probability to flip after a failure."
)
@click.option("--strategy", type=click.Choice(("generate", "pick")), help="How a model makes x'.")
@click.option(
    "--examples",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Datapoints to show, and to pick from.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="What all draws are made of.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a line a datapoint; resumable.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@config_option
def command(
    *, file: Path, x: str, y: str, out: Path | None, as_json: bool, config_file: Path | None, **options: Any
) -> None:
    """Test whether a labeller knows why it labels the datapoints of FILE as it does, without reference labels.

    FILE holds JSON lines (or one JSON list): objects with a field x, or labelling records. Each datapoint goes through
    the evaluator-verifier protocol; the share of those that pass is the trust figure. With --out an interrupted run
    goes on where it stopped.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.kept_answers import UnusableAnswers
    from lab.labelling.datapoints import BadDatapoints, Datapoints
    from lab.labelling.run import CorpusOptions

    with run_errors(BadDatapoints, UnusableAnswers, resumable=out is not None):
        tally = asyncio.run(_run(configured, CorpusOptions(**options), Datapoints(file, x, y), out))
    print_figures(tally, as_json=as_json)


async def _run(
    configured: "Configuration", options: "CorpusOptions", datapoints: "Datapoints", out: Path | None
) -> "LabellingTally":
    from checkers.model_patience import ModelPatience
    from lab.kept_answers import kept_run
    from lab.labelling.results import DatapointResult, LabellingTally
    from lab.labelling.run import CorpusRun, rest_collector

    def tell(message: str) -> None:
        click.echo(message, err=True)

    async with models_of(configured) as models:
        with kept_run(out, models, tell) as (kept, write):
            run = CorpusRun(options, datapoints, configured, kept)
            tally = LabellingTally(run.problem.labels, rounds=run.rounds, phi=options.phi)
            with progress(datapoints.count) as shown:

                def emit(result: DatapointResult) -> None:
                    write(result)
                    tally.add(result)
                    shown.at(tally.datapoints, f"{tally.datapoints} datapoints, {tally.successes} passed")

                rest_collector()
                await run.over(datapoints, emit, ModelPatience(shown.say))
    return tally
