"""`assay criteria check`: a criterion on its examples, before it goes live."""

import asyncio
from pathlib import Path

import click

from assay.cli.common import (
    WrongUse,
    config_option,
    configuration,
    download_models,
    print_figures,
    progress,
    quiet_logs,
    run_errors,
    selected,
)
from assay.config import Configuration
from assay.wiring import wired
from checkers.plugin import CheckerPlugin, Trial

INACCURATE = 1
"""Exit status if the criterion is decided rightly too seldom."""


@click.group(short_help="Try your own criteria on examples.")
def criteria() -> None:
    """Criteria in your own words, as the configuration has them."""


@criteria.command("check", short_help="Try a criterion on its examples.")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@config_option
@click.pass_context
def check_criterion(ctx: click.Context, *, name: str, as_json: bool, config_file: Path | None) -> None:
    """Check the examples of the criterion NAME, and answers that the judge makes to break and to keep it.

    An example that is checked is not shown to the judge as a worked one. Prints the balanced accuracy with its interval
    (95%), and each answer that was decided wrongly. Exit status 1 below 75%.
    """
    loaded = configuration(config_file)
    (plugin,) = selected(loaded, [name])
    if plugin.family is None:
        own = ", ".join(one for one, plugin in loaded.installed.plugins.items() if plugin.family) or "none"
        raise WrongUse(f"{name} is not a criterion of yours; configured are: {own}")
    quiet_logs()
    with run_errors():
        download_models(loaded)
        trial = asyncio.run(_tried(loaded, plugin))
    print_figures(trial, as_json=as_json)
    if not trial.passed:
        ctx.exit(INACCURATE)


async def _tried(loaded: Configuration, plugin: CheckerPlugin) -> Trial:
    done = 0
    async with wired(loaded, [plugin]) as service:
        with progress(None) as shown:

            def answered() -> None:
                nonlocal done
                done += 1
                shown.at(done, f"{done} answers")

            if plugin.family is None:
                raise RuntimeError(f"{plugin.name} is of no family")
            return await plugin.family.tried(service.checkers[0], answered)
