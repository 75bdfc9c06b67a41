"""`assay probes build`: from rules to a corpus of statements."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.front_door import NotFinished, config_option, configuration, print_figures, quiet_logs, run_errors
from assay.progress import progress

if TYPE_CHECKING:
    from assay.config import Configuration
    from checkers.longtail.settings import LinkSettings
    from lab.link.build import Method
    from lab.link.figures import BuildFigures
    from lab.link.rules.rule import Rule


@click.command("build", short_help="Make statements from logic rules.")
@click.argument("rules", metavar="RULES")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the statements and for what models answered; resumable.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only the rule of this name; may be given several times.")
@click.option(
    "--method",
    type=click.Choice(("link", "random", "direct", "post-hoc")),
    default="link",
    show_default=True,
    help="The search, or a baseline: beams are kept at random, all values come from one prompt, or these reranked.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="What the method random draws from.")
@click.option("--dry-run", is_flag=True, help="Ask nothing: print the calls and tokens that it takes at most.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@config_option
def build(
    *,
    rules: str,
    out: Path,
    only: tuple[str, ...],
    method: "Method",
    seed: int,
    dry_run: bool,
    as_json: bool,
    config_file: Path | None,
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
    from lab.link.answers import UnusableAnswers
    from lab.link.build import CannotBuild, link_settings, rules_named
    from lab.link.cost import lines_of, most
    from lab.link.rules.reading import BadRules
    from lab.link.vetting import NotVetted
    from models.model_loading import ModelUnusable

    with run_errors(BadRules, CannotBuild, NotVetted, UnusableAnswers, ModelUnusable, resumable=True):
        settings = link_settings(configured)
        chosen = rules_named(rules, only)
        if dry_run:
            click.echo("\n".join(lines_of(most(chosen, settings))))
            return
        out.mkdir(parents=True, exist_ok=True)
        figures = asyncio.run(_run(configured, settings, chosen, shown_as=rules, out=out, method=method, seed=seed))
        statements = [statement for one in figures.rules for statement in one.statements]
        if not statements:
            raise NotFinished("no statement was found: too few values were accepted to tell head and tail apart")
        write_corpus(out / STATEMENTS, statements)
    print_figures(figures, as_json=as_json)


async def _run(
    configured: "Configuration",
    settings: "LinkSettings",
    rules: "tuple[Rule, ...]",
    *,
    shown_as: str,
    out: Path,
    method: "Method",
    seed: int,
) -> "BuildFigures":
    from lab.link.answers import FILE, AnswerStore
    from lab.link.build import build as built
    from lab.link.build import search_models, steps
    from lab.link.figures import BuildFigures
    from lab.link.vetting import vet

    with AnswerStore(out / FILE) as store, progress(steps(rules)) as shown:
        async with search_models(configured, settings, store, shown.say) as models:
            await vet(rules, models, shown=shown_as)
            found = await built(rules, models, settings, method=method, seed=seed, shown=shown)
            return BuildFigures(tuple(found), store.costs(), dict(models.failures))
