"""Alerts for a person: what happened, and the rejected records as their verdicts are shown elsewhere."""

from collections.abc import AsyncIterator

import click

from assay.verdict_printer import VerdictPrinter, head, indented
from checkers.wording import labelled, plain
from schemas import Alert, SeriesAnew
from streams.lookup import RecordLookup

_COLOURS = {"trust_drop": "red", "trust_recovery": "green"}


async def alert_lines(alert: Alert | SeriesAnew, verdicts: VerdictPrinter, lookup: RecordLookup) -> AsyncIterator[str]:
    """The alert, and each rejected record with its explanation; with its reason if its verdict is gone.

    Lines are styled as those of `verdicts`; `lookup`, a started one, finds the verdicts that the alert names.

    Raises:
        LookupFailed: the broker did not answer.
    """
    mark = click.style(alert.kind.replace("_", " ").upper(), fg=_COLOURS.get(alert.kind), bold=True)
    yield f"{mark}  {alert.raised_at:%Y-%m-%dT%H:%M:%SZ}  {plain(alert.id)[:40]}"
    for line in indented(labelled("", alert.summary)):
        yield line
    for record in alert.rejected if isinstance(alert, Alert) else ():
        verdict = await lookup.verdict(record)
        score = None if verdict is None else verdict.score
        yield head("reject", record.record_id, score, f"{record.checked_at:%Y-%m-%dT%H:%M:%SZ}")
        told = indented(labelled("", record.reason)) if verdict is None else verdicts.explanation(verdict)
        for line in told:
            yield line
