"""`assay failures`: what the rejects of each series have in common, from the store."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from assay.cli.common import MOMENT, WrongUse, config_option, configuration, quiet_logs, reported
from assay.messages import opened_store
from assay.verdict_printer import indented
from checkers.wording import labelled, plain
from models.wording import counted

if TYPE_CHECKING:
    from store.failures import Failures
    from store.reading import Reader, Series

_SERIES = 12
_COMPARED = 1000
_GROUPS = 5
_A_DAY = timedelta(days=1)


@click.command()
@click.option("--source", metavar="S", help="Only series of this source.")
@click.option("--model", metavar="M", help="Only series of this model.")
@click.option("--checker", metavar="C", help="Only series of this checker.")
@click.option("--since", type=MOMENT, metavar="T", help="90m, 24h or 7d ago, or 2026-11-20T08:00. Default: 24h.")
@click.option("--until", type=MOMENT, metavar="T", help="Only before, likewise. Default: now.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each series instead.")
@config_option
def failures(
    *,
    source: str | None,
    model: str | None,
    checker: str | None,
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
    config_file: Path | None,
) -> None:
    """Show what rejects have in common that accepts of the same series do not.

    Documents, metadata, tenants, hours, judges and configurations are compared by exact tests, corrected for how many
    there are; other rejects are grouped by similar faults. The series with most rejects come first. Reads the store
    (store.url); no broker is needed.
    """
    loaded = configuration(config_file)
    if loaded.store.url is None:
        raise WrongUse("rejects are compared in the store, and none is configured (store.url)")
    quiet_logs()
    end = until or datetime.now(UTC)
    begin = since or end - _A_DAY
    if begin >= end:
        raise WrongUse("--since is not before --until")
    with reported(), opened_store(loaded.store.url) as reader:
        from store.failures import read_failures

        wanted = {"source": source, "model": model, "checker": checker}
        chosen = rejecting(reader, wanted, begin, end)
        for number, one in enumerate(chosen[:_SERIES]):
            report = read_failures(reader, one, begin, end, compared=_COMPARED)
            if as_json:
                click.echo(orjson.dumps(_document(report)).decode())
            else:
                click.echo("\n".join([*([""] if number else []), *_lines(report)]))
    more = f"; the {_SERIES} with most are shown" if len(chosen) > _SERIES else ""
    click.echo(f"{len(chosen)} series with rejects in that time{more}", err=True)


def rejecting(reader: "Reader", wanted: dict[str, str | None], begin: datetime, end: datetime) -> "list[Series]":
    """The series with rejects in that time, most rejects first; None is not asked for."""
    hour = begin.replace(minute=0, second=0, microsecond=0)
    named = {name: value for name, value in wanted.items() if value}
    totals = reader.totals(hour, until=end, minutes=60).items()
    found = {one: of["reject"] for one, of in totals if of.get("reject") and named.items() <= one._asdict().items()}
    return sorted(found, key=lambda one: (-found[one], one))


def _document(report: "Failures") -> dict[str, object]:
    common = [one.model_dump() for one in report.common]
    groups = [one._asdict() for one in report.unexplained]
    return asdict(report) | {"series": report.series._asdict(), "common": common, "unexplained": groups}


def _lines(report: "Failures") -> Iterator[str]:
    one, (rejects, accepts) = report.series, report.compared
    yield click.style(plain(f"{one.source} / {one.model}  by {one.checker}"), bold=True)
    told = f"{report.rejects} rejects and {report.accepts} accepts since {report.begin:%Y-%m-%dT%H:%M}Z"
    yield from indented(labelled("", f"{told}; compared are {rejects} and {accepts}, drawn evenly"))
    for each in report.common:
        yield from indented(labelled("common: ", each.line))
    if not report.common:
        yield from indented(["common: nothing that chance does not explain"])
    for fault, times in report.faults:
        yield from indented(labelled("fault:  ", f"{times} of {rejects}: {fault}"))
    for group in report.unexplained[:_GROUPS]:
        yield from indented(labelled(f"{len(group.ids):5}x  ", group.reason))
    if left := report.unexplained[_GROUPS:]:
        yield from indented([f"and {counted(sum(len(group.ids) for group in left), 'reject')} in smaller groups"])
