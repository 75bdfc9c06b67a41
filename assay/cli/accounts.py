"""`assay accounts`: what became of each message, by checker and hour, and whether one is missing."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from assay.accounts import COLUMNS, UNCHECKED, Accounts, take_accounts
from assay.cli.front_door import config_option, configuration, print_figures, quiet_logs, selected, told
from checkers.checker import NOBODY
from checkers.wording import plain
from models.wording import counted

MISSING = 1
"""Exit status where a record is missing."""

_NAMED = 20

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class _Ago(click.ParamType):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        found = re.fullmatch(r"(\d{1,5})([mhd])", str(value))
        if found is None:
            self.fail(f"{value!r} is no time; allowed are minutes, hours and days, such as 90m, 24h and 7d", param, ctx)
        return datetime.now(UTC) - timedelta(**{_UNITS[found[2]]: int(found[1])})


@click.command(short_help="Show whether every record was answered.")
@click.option("--since", type=_Ago(), default="24h", show_default=True, metavar="T", help="How far back: 90m, 24h, 7d.")
@click.option("--checker", "checkers", multiple=True, metavar="C", help="Only this checker; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@config_option
@click.pass_context
def accounts(
    ctx: click.Context, *, since: datetime, checkers: tuple[str, ...], as_json: bool, config_file: Path | None
) -> None:
    """Show what became of each message on the outputs topic, by checker and hour of its arrival.

    What a checker took in was decided, abstained on, left out by a rule, became a dead letter or is held: not finished
    yet. What its group has passed without any of these is missing: lost, or left out by rules that have changed since.
    All is counted from the topics themselves. The exit status is 1 if something is missing.
    """
    loaded = configuration(config_file)
    selected(loaded, checkers)
    quiet_logs()
    with told():
        found = asyncio.run(take_accounts(loaded, since, checkers))
    print_figures(_Shown(found, asked_since=since), as_json=as_json)
    if found.missing:
        ctx.exit(MISSING)


class _Shown:
    """The accounts, as a command shows them."""

    def __init__(self, accounts: Accounts, *, asked_since: datetime) -> None:
        self._accounts = accounts
        self._asked_since = asked_since
        self.summary = accounts.summary

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        accounts = self._accounts
        if accounts.since > self._asked_since:
            yield f"Answers from before {accounts.since:%Y-%m-%d %H:%M}Z are deleted already; the accounts begin there."
        heads = ["taken in", *(name.replace("_", " ") for name in COLUMNS)]
        for checker in accounts.checkers:
            yield _titles.get(checker, checker)
            yield "  " + f"{'hour, UTC':<16}" + "".join(f"{head:>14}" for head in heads)
            for row in accounts.rows(checker):
                yield _line(f"{row.pop('hour'):%Y-%m-%d %H:%M}", row)
            yield _line("all", accounts.total(checker))
        since = f"since {accounts.since:%Y-%m-%d %H:%M}Z"
        yield f"{counted(accounts.messages, 'message')} on {accounts.topic} {since}."
        if not accounts.checkers:
            yield "No checker was at work there."
        elif not accounts.missing:
            yield "Nothing is missing."
        else:
            yield (
                f"{counted(accounts.missing, 'answer')} missing: lost, or left out by rules that were changed since "
                "([[routing.rules]])."
            )
            for each in accounts.named[:_NAMED]:
                at = f"{accounts.topic}[{each.partition}]@{each.offset}"
                yield f"  {plain(each.record_id) or 'unreadable'}  {plain(each.source)}  by {each.checker}  {at}"
            if accounts.missing > _NAMED:
                yield "  … (--json names up to 1,000)"


_titles = {UNCHECKED: "(cannot be read by any checker)", NOBODY: "(of a kind that no checker takes)"}


def _line(title: str, row: dict[str, Any]) -> str:
    return f"  {title:<16}" + "".join(f"{value:>14,}" for value in row.values())
