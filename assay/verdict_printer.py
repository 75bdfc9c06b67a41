"""Verdicts and alerts for a person: a head line, and below it what the method tells about its evidence."""

import json
import textwrap
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from checkers.plugin import CheckerPlugin
from checkers.wording import explanation_width, labelled, plain
from schemas import Alert, Outcome, SeriesAnew, TrueRateAlert, Verdict

if TYPE_CHECKING:
    from streams.lookup import RecordLookup

_INDENT = " " * 9

_COLOURS: dict[Outcome, str] = {"accept": "green", "reject": "red", "abstain": "yellow"}
_ALERT_COLOURS = {"trust_drop": "red", "trust_recovery": "green"}


class VerdictPrinter:
    """Lines as wide as the terminal, styled; click drops the styles if there is no terminal."""

    def __init__(self, plugins: Sequence[CheckerPlugin]) -> None:
        self._explain = {plugin.name: plugin.explain for plugin in plugins}

    def lines(self, verdict: Verdict) -> Iterator[str]:
        """The head line and the explanation; of an acceptance often the head line alone."""
        subject = f"{verdict.source} / {verdict.model}  by {verdict.checker}"
        yield _head(verdict.outcome, verdict.record_id, verdict.score, subject)
        yield from indented(self.explanation(verdict))

    def explanation(self, verdict: Verdict) -> list[str]:
        """What the method tells, or the reason; of an acceptance nothing if the method has nothing to add."""
        explain = self._explain.get(verdict.checker)
        told = [] if explain is None else list(explain(verdict))
        return told if told or verdict.outcome == "accept" else labelled("", verdict.reason)

    def whole(self, verdict: Verdict) -> Iterator[str]:
        """The lines, with a reason in any case, and the verdict with all its evidence as JSON."""
        yield from (lines := list(self.lines(verdict)))
        yield from indented(labelled("", verdict.reason) if len(lines) == 1 else ())
        for line in json.dumps(verdict.model_dump(mode="json"), indent=2, ensure_ascii=False).splitlines():
            further = " " * (len(line) - len(line.lstrip()) + 4)
            yield from indented(textwrap.wrap(plain(line), explanation_width(), subsequent_indent=further))

    async def alert(self, alert: Alert | SeriesAnew | TrueRateAlert, lookup: "RecordLookup") -> AsyncIterator[str]:
        """The alert, and each rejected record with its explanation; with its reason if its verdict is gone.

        `lookup`, a started one, finds the verdicts that the alert names.

        Raises:
            LookupFailed: the broker did not answer.
        """
        mark = click.style(alert.kind.replace("_", " ").upper(), fg=_ALERT_COLOURS.get(alert.kind), bold=True)
        yield f"{mark}  {alert.raised_at:%Y-%m-%dT%H:%M:%SZ}  {plain(alert.id)[:40]}"
        for line in indented(labelled("", alert.summary)):
            yield line
        for record in alert.rejected if isinstance(alert, Alert) else ():
            verdict = await lookup.verdict(record)
            score = None if verdict is None else verdict.score
            yield _head("reject", record.record_id, score, f"{record.checked_at:%Y-%m-%dT%H:%M:%SZ}")
            for line in indented(labelled("", record.reason) if verdict is None else self.explanation(verdict)):
                yield line


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they stand below a head line."""
    return (_INDENT + line for line in lines)


def _head(outcome: Outcome, record_id: str, score: float | None, beside: str) -> str:
    """The line above an explanation."""
    shown = "    -" if score is None else f"{score:5.2f}"
    mark = click.style(f"{outcome.upper():<7}", fg=_COLOURS[outcome], bold=True)
    return f"{mark}  {plain(f'{record_id[:24]:<10} {shown}  {beside}')[: explanation_width()]}"
