"""`assay probes build` and `assay probes expand`: from rules to statements, and from general rules to special ones."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.front_door import (
    NotFinished,
    WrongUse,
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
    from lab.link.search import SearchOptions

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
@click.option(
    "--scorer",
    default="HuggingFaceTB/SmolLM2-135M",
    show_default=True,
    metavar="M",
    help="The model whose likelihood of a sentence ranks it: a causal one of the Hugging Face hub, its folder, or "
    "endpoint:judge or endpoint:SUBJECT, for an endpoint that gives the log-probabilities of a prompt.",
)
@click.option("--measurer", metavar="M", help="Another one, which says how far head and tail are apart (delta).")
@click.option("--values", type=click.IntRange(1, 200), default=50, show_default=True, help="Values asked for at once.")
@click.option("--beams", type=click.IntRange(1, 5000), default=200, show_default=True, help="Beams that are kept.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
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
    from lab.kept_answers import UnusableAnswers
    from lab.link.build import CannotBuild, planned, rules_named
    from lab.link.rules import BadRules
    from lab.link.search import SearchOptions
    from models.model_loading import ModelUnusable

    with run_errors(BadRules, CannotBuild, UnusableAnswers, ModelUnusable, resumable=True):
        chosen = rules_named(rules, only)
        search = SearchOptions(**options)
        approve(planned(configured, chosen, search), yes=yes)
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
    from lab.link.figures import BuildFigures

    with KeptAnswers(out / _ANSWERS) as kept, progress(sum(len(rule.searched) for rule in rules)) as shown:
        async with search_models(configured, options, kept, shown) as models:
            found = await built(rules, models, options, shown_as=shown_as)
            return BuildFigures(found, models.costs, models.failures)


@click.command("expand", short_help="Make several rules of a general one.")
@click.argument("rules", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="RULES")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="File for the rules; must not exist."
)
@config_option
def expand(*, rules: Path, out: Path, config_file: Path | None) -> None:
    """Make rules with narrower data types of those rules in the file RULES that name a variable to `expand`.

    The judge is asked for ten types of the variable, and for the verbs that fit
    each. Look through the file that is written, and delete what is wrong, before statements are built from it.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.link.build import CannotBuild
    from lab.link.rules import BadRules, read_rules, written

    with run_errors(BadRules, CannotBuild):
        if out.exists():
            raise WrongUse(f"--out {out}: the file exists, and somebody may have worked on it")
        if not out.parent.is_dir():
            raise WrongUse(f"--out {out}: there is no folder {out.parent}")
        chosen = [rule for rule in read_rules(rules) if rule.expand is not None]
        if not chosen:
            raise WrongUse(f"{rules}: no rule names a variable to expand; write, for example, 'expand: B' in one")
        made: list[Rule] = []
        try:
            asyncio.run(_expand(configured, chosen, made))
        finally:
            # What was made before a model failed has been paid for.
            if made:
                out.write_text(f"# Look through these rules, and delete what is wrong.\n\n{written(made)}", "utf-8")
                click.echo(f"{len(made)} rules in {out}; look through them before you build statements from them")
        if not made:
            raise NotFinished("the model gave nothing that makes a rule")


async def _expand(configured: "Configuration", rules: "list[Rule]", made: "list[Rule]") -> None:
    """Expand each rule, and add what comes of it to `made`; tell what came of the others."""
    from lab.link.build import knowledge_model
    from lab.link.expansion import narrower

    model = knowledge_model(configured)
    try:
        for rule in rules:
            for one in await narrower(rule, str(rule.expand), model):
                if isinstance(one, str):
                    click.echo(one, err=True)
                else:
                    made.append(one)
    finally:
        await model.close()
