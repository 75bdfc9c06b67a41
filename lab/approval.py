"""Telling what a run will cost before anything is paid, and asking a person about a large one."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from assay.cli.front_door import WrongUse
from models.settings import EndpointSettings

_MANY = 1000

yes_option = click.option("--yes", is_flag=True, help="Do not ask before a run of more than 1,000 calls.")


@dataclass(frozen=True, slots=True)
class Planned:
    """The calls to one model, and about how many tokens each has."""

    model: str
    calls: int
    prompt_tokens: float
    completion_tokens: float
    settings: EndpointSettings


def approve(planned: Sequence[Planned], *, yes: bool) -> None:
    """Tell calls and price, and ask before more than a thousand calls; `yes` is the answer.

    Raises:
        WrongUse: nobody is there to be asked.
        click.Abort: the answer is no.
    """
    for one in planned:
        cost = one.calls * one.settings.cost(one.prompt_tokens, one.completion_tokens)
        price = f"cost about {cost:.2f}" if cost else "no price is configured"
        tokens = one.calls * (one.prompt_tokens + one.completion_tokens)
        click.echo(f"{one.model}: up to {one.calls:,} calls, about {tokens:,.0f} tokens, {price}", err=True)
    calls = sum(one.calls for one in planned)
    if calls <= _MANY or yes:
        return
    if not sys.stdin.isatty():
        raise WrongUse(f"up to {calls:,} calls, and no terminal to ask at; --yes makes them without asking")
    click.confirm(f"Make up to {calls:,} calls?", abort=True, err=True)
