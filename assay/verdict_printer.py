"""Verdicts for a person: a head line, and below it what the method tells about its evidence."""

from collections.abc import Iterator, Sequence

import click

from checkers.plugin import CheckerPlugin
from checkers.wording import labelled, plain
from schemas import Outcome, Verdict

WIDTH = 80
_INDENT = " " * 9

_COLOURS: dict[Outcome, str] = {"accept": "green", "reject": "red", "abstain": "yellow"}


class VerdictPrinter:
    """Lines of at most 80 columns, styled; click drops the styles if there is no terminal."""

    def __init__(self, plugins: Sequence[CheckerPlugin]) -> None:
        self._explain = {plugin.name: plugin.explain for plugin in plugins}

    def lines(self, verdict: Verdict) -> Iterator[str]:
        """The head line; of a verdict that does not accept also its explanation, or else its reason."""
        yield self._head(verdict)
        if verdict.outcome != "accept":
            yield from (_INDENT + line for line in self._explanation(verdict) or labelled("", verdict.reason))

    def explained(self, verdict: Verdict) -> Iterator[str]:
        """Head line and explanation, whatever the outcome; nothing if the method has no explanation to add."""
        if explanation := self._explanation(verdict):
            yield self._head(verdict)
            yield from (_INDENT + line for line in explanation)

    def _explanation(self, verdict: Verdict) -> list[str]:
        explain = self._explain.get(verdict.checker)
        return [] if explain is None else list(explain(verdict))

    def _head(self, verdict: Verdict) -> str:
        score = "    -" if verdict.score is None else f"{verdict.score:5.2f}"
        subject = f"{verdict.record_id[:24]:<10} {score}  {verdict.source} / {verdict.model}"
        mark = click.style(f"{verdict.outcome.upper():<7}", fg=_COLOURS[verdict.outcome], bold=True)
        return f"{mark}  {plain(subject)[: WIDTH - len(_INDENT)]}"
