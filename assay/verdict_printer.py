"""Verdicts and alerts for a person, and verdicts as a JUnit report, which CI systems show as tests."""

import json
import re
import shutil
import tempfile
import textwrap
from collections import Counter
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
            LookupFailed: the broker did not answer.
        """
        mark = click.style(alert.kind.replace("_", " ").upper(), fg=_ALERT_COLOURS.get(alert.kind), bold=True)
        yield f"{mark}  {alert.raised_at:%Y-%m-%dT%H:%M:%SZ}  {plain(alert.id)[:40]}"
        whole = textwrap.wrap(plain(alert.summary), explanation_width(), max_lines=10, placeholder=" …")
        for line in indented(whole):
            yield line
        for one in alert.common if isinstance(alert, Alert) else ():
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


_IN_MEMORY_BYTES = 1_048_576

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""

_COUNTED_AS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


class JUnitReport:
    """A test case for each verdict, and an error for each that is missing; kept on disk until it is written."""

    def __init__(self, printer: VerdictPrinter) -> None:
        self._printer = printer
        self._cases = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 closed by `write`
        self._counts: Counter[str] = Counter()

    def add(self, checked: CheckedLine) -> None:
        for verdict in checked.verdicts:
            case = _case(verdict.checker, verdict.record_id, verdict.usage.seconds)
            if verdict.outcome == "reject":
                explanation = "\n".join(line.strip() for line in self._printer.explanation(verdict))
                self._add(case, "failure", verdict.reason, explanation)
            else:
                self._add(case, "skipped" if verdict.outcome == "abstain" else None, verdict.reason)
        for fault in checked.faults:
            self._add(_case("assay", f"line {checked.line.number}", 0.0), "error", fault)

    def write(self, target: BinaryIO, name: str) -> None:
        """Write the report with `name`, and close it."""
        counts = {each: str(self._counts[each]) for each in ("tests", *_COUNTED_AS.values())}
        suite = ET.Element("testsuite", {"name": _clean(name)} | counts)
        # Without an end, as the cases follow.
        opened = ET.tostring(suite, encoding="unicode", short_empty_elements=False).removesuffix("</testsuite>")
        target.write(f"<?xml version='1.0' encoding='utf-8'?>\n<testsuites>\n{opened}\n".encode())
        with self._cases:
            self._cases.seek(0)
            shutil.copyfileobj(self._cases, target)
        target.write(b"</testsuite>\n</testsuites>\n")
        target.flush()

    def _add(self, case: ET.Element, result: str | None, message: str, text: str = "") -> None:
        self._counts["tests"] += 1
        if result is not None:
            self._counts[_COUNTED_AS[result]] += 1
            ET.SubElement(case, result, {"message": _clean(message)}).text = _clean(text) or None
        self._cases.write(ET.tostring(case, encoding="utf-8", xml_declaration=False) + b"\n")


def _case(checker: str, name: str, seconds: float) -> ET.Element:
    return ET.Element("testcase", {"classname": _clean(checker), "name": _clean(name), "time": f"{seconds:.3f}"})


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
