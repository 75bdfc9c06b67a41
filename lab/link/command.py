"""`assay probes build`: from rules to statements."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.front_door import (
    NotFinished,
    config_option,
    configuration,
    print_figures,
    quiet_logs,
    run_errors,
)
from assay.progress import progress
from lab.approval import approve, yes_option

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.link.figures import BuildFigures
    from lab.link.rules import Rule

_ANSWERS = "answers.sqlite"


@click.command("build", short_help="Make statements from logic rules.")
@click.argument("rules", metavar="RULES")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the statements and for what models answered; resumable.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only the rule of this name; may be given several times.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@yes_option
@config_option
def build(*, rules: str, out: Path, only: tuple[str, ...], as_json: bool, yes: bool, config_file: Path | None) -> None:
    """Search for statements, common ones and rare ones, that follow by the rules of the file RULES.

    RULES is a file, or `bundled` for the rules that come with assay. A model is asked for values, a critic judges
    them, and the likelihood of the sentence decides which are kept. DIR/statements.jsonl gets a line a statement.
    Whatever a model answers is kept in DIR/answers.sqlite at once: the same command goes on where an interrupted one
    stopped, asks nothing twice, and gives the same file.
    """
    configured = configuration(config_file)
    quiet_logs()
    from checkers.longtail.corpus import STATEMENTS, write_corpus
    from lab.kept_answers import UnusableAnswers
    from lab.link.build import CannotBuild, planned, rules_named
    from lab.link.rules import BadRules
    from models.model_loading import ModelUnusable

    with run_errors(BadRules, CannotBuild, UnusableAnswers, ModelUnusable, resumable=True):
        chosen = rules_named(rules, only)
        approve(planned(configured, chosen), yes=yes)
        out.mkdir(parents=True, exist_ok=True)
        figures = asyncio.run(_build(configured, chosen, rules, out))
        statements = [statement for one in figures.rules for statement in one.statements]
        if not statements:
            raise NotFinished("no statement was found: too few values were accepted to tell head and tail apart")
        write_corpus(out / STATEMENTS, statements)
    print_figures(figures, as_json=as_json)


async def _build(configured: "Configuration", rules: "list[Rule]", shown_as: str, out: Path) -> "BuildFigures":
    from lab.kept_answers import KeptAnswers
    from lab.link.build import build as built
    from lab.link.build import link_settings, search_models
    from lab.link.figures import BuildFigures

    settings = link_settings(configured)
    with KeptAnswers(out / _ANSWERS) as kept, progress(sum(len(rule.searched) for rule in rules)) as shown:
        async with search_models(configured, settings, kept, shown) as models:
            found = await built(rules, models, settings, shown_as=shown_as)
            return BuildFigures(found, models.costs, models.failures)
