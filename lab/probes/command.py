"""`assay probes`: statements about common and rare facts, made from logic rules, and what subjects know of them."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from assay.cli.front_door import (
    NotFinished,
    config_option,
    configuration,
    models_of,
    print_figures,
    quiet_logs,
    run_errors,
)
from assay.progress import progress
from checkers.longtail.settings import Way
from lab.options import approve, json_option, out_option, seed_option, yes_option

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.link.rules import Rule
    from lab.link.search import SearchOptions
    from lab.link.statements import BuildFigures
    from lab.probes.results import ProbeTable
    from lab.probes.run import ProbeOptions


@click.group(short_help="Statements about common and rare facts.")
def probes() -> None:
    """Make statements about common and rare facts from logic rules, and ask models about them."""


@probes.command("build", short_help="Make statements from logic rules.")
@click.argument("rules", metavar="RULES")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True,
              help="Folder for the statements and for what models answered; resumable.")  # fmt: skip
@click.option("--only", multiple=True, metavar="NAME", help="Only the rule of this name; may be given several times.")
@click.option("--scorer", default="HuggingFaceTB/SmolLM2-135M", show_default=True, metavar="M",
              help="The model whose likelihood of a sentence ranks it: a causal one of the Hugging Face hub, its "
              "folder, or endpoint:judge or endpoint:SUBJECT, for an endpoint that gives the log-probabilities of a "
              "prompt.")  # fmt: skip
@click.option("--measurer", metavar="M", help="Another one, which says how far head and tail are apart (delta).")
@click.option("--values", type=click.IntRange(1, 200), default=50, show_default=True, help="Values asked for at once.")
@click.option("--beams", type=click.IntRange(1, 5000), default=200, show_default=True, help="Beams that are kept.")
@json_option
@yes_option
@config_option
def build(
    *, rules: str, out: Path, only: tuple[str, ...], as_json: bool, yes: bool, config_file: Path | None, **options: Any
) -> None:
    """Search for statements, common ones and rare ones, that follow by the rules of the file RULES.

    RULES is a file, or `bundled` for the rules that come with assay. A model is asked for values, a critic judges
    them, and the likelihood of the sentence decides which are kept. DIR/statements.jsonl gets a line a statement.
    Whatever a model answers is kept in DIR/answers.sqlite at once: the same command goes on where an interrupted one
    stopped, asks nothing twice, and gives the same file.
    """
    configured = configuration(config_file)
    quiet_logs()
    from checkers.longtail.corpus import STATEMENTS, write_corpus
    from lab.link.build import most_calls, rules_named
    from lab.link.search import SearchOptions
    from models.model_loading import ModelUnusable

    with run_errors(ModelUnusable, resumable=True):
        chosen = rules_named(rules, only)
        search = SearchOptions(**options)
        approve(most_calls(chosen, search), yes=yes)
        out.mkdir(parents=True, exist_ok=True)
        figures = asyncio.run(_build(configured, search, chosen, rules, out))
        statements = [statement for one in figures.rules for statement in one.statements]
        if not statements:
            raise NotFinished("no statement was found: too few values were accepted to tell head and tail apart")
        write_corpus(out / STATEMENTS, statements)
    print_figures(figures, as_json=as_json)


async def _build(
    configured: "Configuration", options: "SearchOptions", rules: "list[Rule]", shown_as: str, out: Path
) -> "BuildFigures":
    from lab.kept_answers import KeptAnswers
    from lab.link.build import build as built
    from lab.link.build import search_models
    from lab.link.statements import BuildFigures

    with (
        closing(KeptAnswers(out / "answers.sqlite")) as kept,
        progress(sum(len(rule.searched) for rule in rules)) as shown,
    ):
        async with search_models(configured, options, kept, shown) as models:
            found = await built(rules, models, options, shown_as=shown_as)
            return BuildFigures(found, models.costs, models.failures)


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
@yes_option
@config_option
def run(*, data: Path, out: Path | None, as_json: bool, yes: bool, config_file: Path | None, **options: Any) -> None:
    """Ask models about the statements in DATA, each in 13 ways, and count the right answers.

    DATA is a file of statements, the folder that `assay probes build` wrote, or `bundled` for the small corpus that
    comes with assay. The figures are by domain, head and tail, and apart for probes that are to be affirmed (positive)
    and denied (negative). With --out an interrupted run goes on where it stopped.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.probes.run import ProbeOptions

    with run_errors(resumable=out is not None):
        table = asyncio.run(_run(configured, ProbeOptions(**options), data, out, yes=yes))
    print_figures(table, as_json=as_json)


async def _run(
    configured: "Configuration", options: "ProbeOptions", data: Path, out: Path | None, *, yes: bool
) -> "ProbeTable":
    from checkers.model_patience import ModelPatience
    from lab.kept_answers import kept_run
    from lab.probes.results import ProbeResult, ProbeTable
    from lab.probes.run import ProbeRun

    async with models_of(configured) as models:
        with kept_run(out, models) as (kept, results):
            probing = ProbeRun(options, data, configured, kept)
            approve(probing.calls, yes=yes)
            table = ProbeTable(probing.runs)
            with progress(probing.count) as shown:

                def emit(result: ProbeResult) -> None:
                    results.append(result)
                    table.add(result)
                    shown.at(len(results), f"{len(results)} probes")

                await probing.over(emit, ModelPatience(shown.say))
    return table
