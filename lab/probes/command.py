"""`assay probes`: statements about common and rare facts, made from logic rules, and what subjects know of them."""

import asyncio
from pathlib import Path
from typing import Any, get_args

import click

from assay.cli.common import NotFinished, config_option, configuration, print_figures, quiet_logs, run_errors
from checkers.longtail.questions import Way
from lab.options import json_option, out_option, seed_option


@click.group(short_help="Statements about common and rare facts.")
def probes() -> None:
    """Make statements about common and rare facts from logic rules, and ask models about them."""


@probes.command("build", short_help="Make statements from logic rules.")
@click.argument("rules", metavar="RULES")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True,
              help="Folder for the statements and for what models answered; resumable.")  # fmt: skip
@click.option("--only", multiple=True, metavar="RULE", help="The rule of this name alone; may be given several times.")
@click.option("--scorer", default="HuggingFaceTB/SmolLM2-135M", show_default=True, metavar="M",
              help="The model whose likelihood of a sentence ranks it: a causal one of the Hugging Face hub, its "
              "folder, or endpoint:judge or endpoint:SUBJECT, for one behind vLLM or llama.cpp.")  # fmt: skip
@click.option("--measurer", metavar="M", help="Another one, which says how far head and tail are apart (delta).")
@click.option("--values", type=click.IntRange(1, 200), default=50, show_default=True, help="Values asked for at once.")
@click.option("--beams", type=click.IntRange(1, 5000), default=200, show_default=True, help="Beams that are kept.")
@json_option
@config_option
def build(
    *, rules: str, only: tuple[str, ...], out: Path, as_json: bool, config_file: Path | None, **options: Any
) -> None:
    """Search for statements, common ones and rare ones, that follow by the rules of the file RULES.

    RULES is a file, or `bundled` for the rules that come with assay. A model is asked for values, a critic judges
    them, and the likelihood of the sentence decides which are kept. DIR/statements.jsonl gets a line a statement.
    Whatever a model answers is kept in DIR/answers.sqlite at once: the same command goes on where an interrupted one
    stopped, asks nothing twice, and gives the same file.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.link import build as link
    from lab.link.rules import read_rules
    from lab.link.search import SearchOptions
    from models.model_loading import ModelUnusable

    with run_errors(ModelUnusable, resumable=True):
        chosen = read_rules(rules, only)
        out.mkdir(parents=True, exist_ok=True)
        figures = asyncio.run(link.build(configured, SearchOptions(**options), chosen, out))
    print_figures(figures, as_json=as_json)
    if not any(one.statements for one in figures.rules):
        raise NotFinished(f"no statement was found: {figures.missing}")


@probes.command("run", short_help="Ask models about statements, head and tail apart.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, metavar="M",
              help="A subject by its name in the configuration; may be given several times. Default: the only "
              "subject.")  # fmt: skip
@click.option("--way", "ways", multiple=True, type=click.Choice(get_args(Way)), default=("zero-shot",),
              show_default=True,
              help="Ask for the answer alone, or for reasoning first; may be given twice.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="At most N statements of each domain and distribution.")  # fmt: skip
@seed_option
@out_option
@json_option
@config_option
def run(*, data: Path, out: Path | None, as_json: bool, config_file: Path | None, **options: Any) -> None:
    """Ask models about the statements in DATA, each in 13 ways, and count the right answers.

    DATA is a file of statements, the folder that `assay probes build` wrote, or `bundled` for the small corpus that
    comes with assay. The figures are by domain, head and tail, and apart for probes that are to be affirmed (positive)
    and denied (negative). With --out an interrupted run goes on where it stopped.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.probes.run import ProbeOptions, probed

    with run_errors(resumable=out is not None):
        figures = asyncio.run(probed(configured, ProbeOptions(**options), data, out))
    print_figures(figures, as_json=as_json)
