"""`assay probes expand`: from meta-rules to rules."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.front_door import NotFinished, WrongUse, config_option, configuration, quiet_logs, run_errors

if TYPE_CHECKING:
    from assay.config import Configuration
    from lab.link.expansion import Expansion
    from lab.link.rules.rule import Rule


@click.command("expand", short_help="Make several rules of a general one.")
@click.argument("rules", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="RULES")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="File for the rules; must not exist."
)
@config_option
def expand(*, rules: Path, out: Path, config_file: Path | None) -> None:
    """Make rules with narrower data types of those rules in the file RULES that name a variable to `expand`.

    The knowledge model (longtail.link.knowledge) is asked for ten types of the variable, and for the verbs that fit
    each. Look through the file that is written, and delete what is wrong, before statements are built from it.
    """
    configured = configuration(config_file)
    quiet_logs()
    from lab.link.build import CannotBuild
    from lab.link.rules.reading import BadRules, read_rules
    from lab.link.rules.writing import written

    with run_errors(BadRules, CannotBuild):
        if out.exists():
            raise WrongUse(f"--out {out}: the file exists, and somebody may have worked on it")
        if not out.parent.is_dir():
            raise WrongUse(f"--out {out}: there is no folder {out.parent}")
        chosen = [rule for rule in read_rules(rules) if rule.expand is not None]
        if not chosen:
            raise WrongUse(f"{rules}: no rule names a variable to expand; write, for example, expand B behind one")
        found: list[Expansion] = []
        try:
            asyncio.run(_run(configured, chosen, found))
        finally:
            # What was made before a model failed has been paid for.
            made = [rule for one in found for rule in one.rules]
            for refused in (text for one in found for text in one.refused):
                click.echo(refused, err=True)
            if made:
                out.write_text(f"# Look through these rules, and delete what is wrong.\n\n{written(made)}", "utf-8")
                click.echo(f"{len(made)} rules in {out}; look through them before you build statements from them")
        if not made:
            raise NotFinished("the model gave nothing that makes a rule")


async def _run(configured: "Configuration", rules: "list[Rule]", found: "list[Expansion]") -> None:
    """Expand each rule, and add what comes of it to `found`."""
    from lab.link import expansion
    from lab.link.build import knowledge_model, link_settings

    model = knowledge_model(configured, link_settings(configured))
    try:
        for rule in rules:
            found.append(await expansion.expand(rule, str(rule.expand), model))
    finally:
        await model.close()
