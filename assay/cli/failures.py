"""`assay failures`: what the rejects of each series have in common, from the store."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from assay.cli.common import WrongUse, configured, selection
from assay.config import Configuration
from assay.messages import opened_store
from assay.verdict_printer import indented
from checkers.wording import labelled, plain

if TYPE_CHECKING:
    from store.failures import Failures

_SERIES = 12
_GROUPS = 5


@click.command()
@selection
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each series instead.")
@configured
def failures(
    *, loaded: Configuration, since: datetime | None, until: datetime | None, as_json: bool, **named: str | None
) -> None:
    """Show what rejects of the last 24 hours have in common that accepts of the same series do not.

    Documents, metadata, tenants, hours, judges and configurations are compared by exact tests, corrected for how many
    there are; other rejects are grouped by similar faults. The series with most rejects come first. Reads the store
    (store.url); no broker is needed.
    """
    end = until or datetime.now(UTC)
    begin = since or end - timedelta(days=1)
    if begin >= end:
        raise WrongUse("--since is not before --until")
    with opened_store(loaded.store.url) as reader:
        from store.failures import read_failures, rejecting

        chosen = [*rejecting(reader, begin, end, **named)]
        for one in chosen[:_SERIES]:
            report = read_failures(reader, one, begin, end, compared=1000)
            click.echo(report.model_dump_json() if as_json else "\n".join(_lines(report)))
    more = f"; the {_SERIES} with most are shown" if len(chosen) > _SERIES else ""
    click.echo(f"{len(chosen)} series with rejects in that time{more}", err=True)


def _lines(report: "Failures") -> Iterator[str]:
    rejects, accepts = report.compared
    yield click.style(plain(f"{report.source} / {report.model}  by {report.checker}"), bold=True)
    said = f"{report.rejects} rejects and {report.accepts} accepts since {report.begin:%Y-%m-%dT%H:%M}Z"
    common = [one.line for one in report.common] or ["nothing that chance does not explain"]
    told = [
        ("", f"{said}; compared are {rejects} and {accepts}, drawn evenly"),
        *(("common: ", line) for line in common),
        *(("fault:  ", f"{times} of {rejects}: {fault}") for fault, times in report.faults),
        *((f"{len(group.ids):5}x  ", group.reason) for group in report.unexplained[:_GROUPS]),
    ]
    if rest := sum(len(group.ids) for group in report.unexplained[_GROUPS:]):
        told.append(("", f"and {rest} more in smaller groups"))
    for label, text in told:
        yield from indented(labelled(label, text))
