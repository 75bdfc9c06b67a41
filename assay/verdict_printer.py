"""Verdicts and alerts for a person, and verdicts as a JUnit report, which CI systems show as tests."""

import json
import re
import textwrap
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO
from xml.etree import ElementTree as ET

import click

from assay.file_check import CheckedLine
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
        """The head line and the explanation; an acceptance often has the head line alone."""
        subject = f"{verdict.source} / {verdict.model}  by {verdict.checker}"
        yield head(verdict.outcome, verdict.record_id, verdict.score, subject)
        yield from indented(self.explanation(verdict))

    def explanation(self, verdict: Verdict) -> list[str]:
        """The method's explanation, or else the reason; of an acceptance without one, nothing."""
        explain = self._explain.get(verdict.checker)
        found = [] if explain is None else list(explain(verdict))
        return found if found or verdict.outcome == "accept" else labelled("", verdict.reason)

    def whole(self, verdict: Verdict) -> Iterator[str]:
        """The lines, always with a reason, and the verdict with all evidence as JSON."""
        yield from (lines := list(self.lines(verdict)))
        yield from indented(labelled("", verdict.reason) if len(lines) == 1 else ())
        for line in json.dumps(verdict.model_dump(mode="json"), indent=2, ensure_ascii=False).splitlines():
            further = " " * (len(line) - len(line.lstrip()) + 4)
            yield from indented(textwrap.wrap(plain(line), explanation_width(), subsequent_indent=further))

    async def alert(self, alert: Alert | SeriesAnew | TrueRateAlert, lookup: "RecordLookup") -> AsyncIterator[str]:
        """The alert, and each rejected record with its explanation; with its reason if its verdict is gone.

        `lookup`, a started one, finds the verdicts that the alert names.

        Raises:
            BrokerUnavailable: the broker did not answer.
        """
        mark = click.style(alert.kind.replace("_", " ").upper(), fg=_ALERT_COLOURS.get(alert.kind), bold=True)
        yield f"{mark}  {alert.raised_at:%Y-%m-%dT%H:%M:%SZ}  {plain(alert.id)[:40]}"
        whole = textwrap.wrap(plain(alert.summary), explanation_width(), max_lines=10, placeholder=" …")
        for line in indented(whole):
            yield line
        for one in () if isinstance(alert, SeriesAnew) else alert.common:
            for line in indented(labelled("common: ", one.line)):
                yield line
        for record in alert.rejected if isinstance(alert, Alert) else ():
            verdict = await lookup.verdict(record)
            score = None if verdict is None else verdict.score
            yield head("reject", record.record_id, score, f"{record.checked_at:%Y-%m-%dT%H:%M:%SZ}")
            for line in indented(labelled("", record.reason) if verdict is None else self.explanation(verdict)):
                yield line


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they are printed below a head line."""
    return (_INDENT + line for line in lines)


def head(outcome: Outcome, record_id: str, score: float | None, about: str) -> str:
    """The line above an explanation."""
    shown = "    -" if score is None else f"{score:5.2f}"
    mark = click.style(f"{outcome.upper():<7}", fg=_COLOURS[outcome], bold=True)
    return f"{mark}  {plain(f'{record_id[:24]:<10} {shown}  {about}')[: explanation_width()]}"


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""

_COUNTED_AS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


class JUnitReport:
    """A test case for each verdict, and an error for each that is missing."""

    def __init__(self, printer: VerdictPrinter) -> None:
        self._printer = printer
        self._suite = ET.Element("testsuite")

    def add(self, checked: CheckedLine) -> None:
        for verdict in checked.verdicts:
            case = self._case(verdict.checker, verdict.record_id, verdict.usage.seconds)
            if verdict.outcome == "reject":
                lines = self._printer.explanation(verdict)
                failure = ET.SubElement(case, "failure", message=_clean(verdict.reason))
                failure.text = _clean("\n".join(line.strip() for line in lines)) or None
            elif verdict.outcome == "abstain":
                ET.SubElement(case, "skipped", message=_clean(verdict.reason))
        for fault in checked.faults:
            ET.SubElement(self._case("assay", f"line {checked.line.number}", 0.0), "error", message=_clean(fault))

    def write(self, target: BinaryIO, name: str) -> None:
        """Write the report with `name`."""
        counts = {plural: str(len(self._suite.findall(f"*/{tag}"))) for tag, plural in _COUNTED_AS.items()}
        self._suite.attrib |= {"name": _clean(name), "tests": str(len(self._suite))} | counts
        suites = ET.Element("testsuites")
        suites.append(self._suite)
        ET.ElementTree(suites).write(target, "utf-8", xml_declaration=True)
        target.flush()

    def _case(self, checker: str, name: str, seconds: float) -> ET.Element:
        given = {"classname": _clean(checker), "name": _clean(name), "time": f"{seconds:.3f}"}
        return ET.SubElement(self._suite, "testcase", given)


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
