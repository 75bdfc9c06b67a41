"""`assay trust`: the No-Data Algorithm over a file of datapoints."""

import asyncio
from pathlib import Path
from typing import Any

import click

from assay.cli.common import config_option, configuration, print_figures, quiet_logs, run_errors
from lab.options import json_option, out_option, seed_option


@click.command("trust", short_help="Trust in a labeller over a file of datapoints.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--rubric", "rubrics", multiple=True, required=True, metavar="R",
              help="A rubric file, or the name of one in labelling.rubrics; k labels take k - 1 of them.")  # fmt: skip
@click.option("--evaluator", default="", metavar="SUBJECT",
              help="The labeller. Default: the model that a record names, or the only subject.")  # fmt: skip
@click.option("--x", "x", default="x", show_default=True, metavar="FIELD", help="The datapoint's field.")
@click.option("--y", "y", default="y", show_default=True, metavar="FIELD", help="The field of a label to compare with.")
@click.option("--phi", type=click.FloatRange(0, 1), default=0.0, show_default=True,
              help="Probability to flip after a failure.")  # fmt: skip
@seed_option
@out_option
@json_option
@config_option
def command(
    *, file: Path, x: str, y: str, out: Path | None, as_json: bool, config_file: Path | None, **options: Any
) -> None:
    """Test whether a labeller knows why it labels the datapoints of FILE as it does, without reference labels.

    FILE holds JSON lines: objects with a field x, or labelling records. Each datapoint goes through the
    evaluator-verifier protocol; the share of those that pass is the trust figure. Rounds, strategy and examples are
    those of the configuration. With --out an interrupted run goes on where it stopped.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.labelling.run import CorpusOptions, read_datapoints, trust

    with run_errors(resumable=out is not None):
        figures = asyncio.run(trust(configured, CorpusOptions(**options), read_datapoints(file, x, y), out))
    print_figures(figures, as_json=as_json)
