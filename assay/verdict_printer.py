"""Verdicts for a person: a head line, and below it what the method tells about its evidence."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click

from checkers.plugin import CheckerPlugin
from checkers.wording import explanation_width, labelled, plain
from schemas import Outcome, Verdict

_INDENT = " " * 9

_COLOURS: dict[Outcome, str] = {"accept": "green", "reject": "red", "abstain": "yellow"}


class VerdictPrinter:
    """Lines as wide as the terminal, styled; click drops the styles if there is no terminal."""

    def __init__(self, plugins: Sequence[CheckerPlugin]) -> None:
        self._explain = {plugin.name: plugin.explain for plugin in plugins}

    def lines(self, verdict: Verdict) -> Iterator[str]:
        """The head line; of a verdict that does not accept also its explanation, or else its reason."""
        yield _head(verdict)
        if verdict.outcome != "accept":
            yield from self.explanation(verdict)

    def explained(self, verdict: Verdict) -> Iterator[str]:
        """Head line and explanation; nothing about an acceptance to which the method has nothing to add."""
        if explanation := list(self.explanation(verdict)):
            yield _head(verdict)
            yield from explanation

    def whole(self, verdict: Verdict) -> Iterator[str]:
        """Head line, explanation or reason, and the verdict with all its evidence as JSON."""
        yield _head(verdict)
        yield from indented(self._told(verdict) or labelled("", verdict.reason))
        for line in json.dumps(verdict.model_dump(mode="json"), indent=2, ensure_ascii=False).splitlines():
            further = " " * (len(line) - len(line.lstrip()) + 4)
            yield from indented(textwrap.wrap(plain(line), explanation_width(), subsequent_indent=further))

    def explanation(self, verdict: Verdict) -> Iterator[str]:
        """The lines below the head line; of an acceptance none if the method has nothing to add."""
        told = self._told(verdict)
        return indented(told if told or verdict.outcome == "accept" else labelled("", verdict.reason))

    def _told(self, verdict: Verdict) -> list[str]:
        explain = self._explain.get(verdict.checker)
        return [] if explain is None else list(explain(verdict))


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they stand below a head line."""
    return (_INDENT + line for line in lines)


def head(outcome: Outcome, record_id: str, score: float | None, beside: str) -> str:
    """The line above an explanation."""
    shown = "    -" if score is None else f"{score:5.2f}"
    mark = click.style(f"{outcome.upper():<7}", fg=_COLOURS[outcome], bold=True)
    return f"{mark}  {plain(f'{record_id[:24]:<10} {shown}  {beside}')[: explanation_width()]}"


def _head(verdict: Verdict) -> str:
    subject = f"{verdict.source} / {verdict.model}  by {verdict.checker}"
    return head(verdict.outcome, verdict.record_id, verdict.score, subject)
