"""`assay equivalence`: a subject's own yes and no about pairs of sentences."""

import asyncio
from pathlib import Path

import click

from assay.cli.common import config_option, configuration, print_figures, quiet_logs, run_errors
from lab.options import json_option, out_option


@click.command("equivalence", short_help="A subject's own yes and no about pairs of sentences.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--subject", default="", metavar="NAME", help="Who is asked. Default: the only subject.")
@out_option
@json_option
@config_option
def command(*, file: Path, subject: str, out: Path | None, as_json: bool, config_file: Path | None) -> None:
    """Ask a subject whether the two sentences of each line of FILE mean the same, and check its answers.

    FILE holds JSON lines with sentence1, sentence2 and, if it is known, a label: true if they mean the same. With --out
    an interrupted run goes on where it stopped.
    """
    from lab.equivalence.run import answered, read_pairs

    configured = configuration(config_file)
    quiet_logs()
    with run_errors(resumable=out is not None):
        figures = asyncio.run(answered(configured, read_pairs(file), subject, out))
    print_figures(figures, as_json=as_json)
