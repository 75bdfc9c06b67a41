"""What the commands over files share: options, and asking a person about a large run."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from assay.cli.front_door import WrongUse

_MANY = 1000

yes_option = click.option("--yes", is_flag=True, help="Do not ask before a run of more than 1,000 calls.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="What all draws are made of.")
out_option = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a line for each result; resumable."
)


def approve(calls: Mapping[str, int], *, yes: bool) -> None:
    """Tell the calls to each model, and ask before more than a thousand; `yes` is the answer.

    Raises:
        WrongUse: nobody is there to be asked.
        click.Abort: the answer is no.
    """
    for model, count in calls.items():
        click.echo(f"{model}: up to {count:,} calls", err=True)
    total = sum(calls.values())
    if total <= _MANY or yes:
        return
    if not sys.stdin.isatty():
        raise WrongUse(f"up to {total:,} calls, and no terminal to ask at; --yes makes them without asking")
    click.confirm(f"Make up to {total:,} calls?", abort=True, err=True)
