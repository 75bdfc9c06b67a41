"""Verdicts and alerts for a person, as a JUnit report and in numbers, and the estimated cost of a whole file."""

import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from statistics import mean
from textwrap import wrap
from typing import TYPE_CHECKING, BinaryIO
from xml.etree import ElementTree as ET

import click

from assay.file_check import CheckedLine
from checkers.draws import generator
from checkers.intervals import total
from checkers.plugin import CheckerPlugin
from checkers.wording import explanation_width, labelled, plain
from models.wording import counted
from schemas import OUTCOMES, Abstention, Alert, Outcome, SeriesAnew, TrueRateAlert, Usage, Verdict
from schemas.base import BUNDLED_NOTE, is_bundled
from streams.record_lines import Line

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
            yield from indented(wrap(plain(line), explanation_width(), subsequent_indent=further))

    async def alert(self, alert: Alert | SeriesAnew | TrueRateAlert, lookup: "RecordLookup") -> AsyncIterator[str]:
        """The alert, and each rejected record with its explanation; with its reason if `lookup` finds no verdict."""
        mark = click.style(alert.kind.replace("_", " ").upper(), fg=_ALERT_COLOURS.get(alert.kind), bold=True)
        yield f"{mark}  {alert.raised_at:%Y-%m-%dT%H:%M:%SZ}  {plain(alert.id)[:40]}"
        whole = wrap(plain(alert.summary), explanation_width(), max_lines=10, placeholder=" …")
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


class Summary:
    """Adds up verdicts and faults."""

    def __init__(self) -> None:
        self.records = 0
        self.unfinished = 0
        """Lines with missing verdicts."""
        self.loading_seconds = 0.0
        """Time of loading models, which the rate does not include."""
        self._started = time.monotonic()
        self._outcomes: dict[str, Counter[Outcome]] = {}
        self._totals: Counter[Outcome] = Counter()
        self._causes: Counter[str] = Counter()
        self._first_reason = ""
        self._usage = Usage()
        self._bundled = 0

    @property
    def working_seconds(self) -> float:
        """Since the start, without the time of loading models."""
        return max(time.monotonic() - self._started - self.loading_seconds, 0.0)

    @property
    def rejected(self) -> int:
        return self._totals["reject"]

    @property
    def decided(self) -> int:
        return self._totals["reject"] + self._totals["accept"]

    @property
    def accepted_rate(self) -> float:
        """Accepted verdicts among the decided ones; there must be one."""
        return self._totals["accept"] / self.decided

    @property
    def why_undecided(self) -> str:
        """The causes of the abstentions, and the reason of the first."""
        causes = ", ".join(f"{cause} {number}" for cause, number in self._causes.most_common())
        return f"{causes}. The first: {self._first_reason}"

    def add(self, checked: CheckedLine) -> None:
        self.records += checked.kind is not None
        self.unfinished += bool(checked.faults)
        for verdict in checked.verdicts:
            self.count(verdict)

    def count(self, verdict: Verdict) -> None:
        self._outcomes.setdefault(verdict.checker, Counter())[verdict.outcome] += 1
        self._totals[verdict.outcome] += 1
        self._usage += verdict.usage
        self._bundled += verdict.outcome != "abstain" and is_bundled(verdict.judge)
        if isinstance(verdict.evidence, Abstention):
            self._causes[verdict.evidence.cause] += 1
            self._first_reason = self._first_reason or verdict.reason

    def lines(self) -> Iterator[str]:
        """The summary, a line at a time."""
        seconds = time.monotonic() - self._started
        loading = f" ({self.loading_seconds:.1f} s of it to load models)" if self.loading_seconds >= 0.1 else ""
        working = self.working_seconds
        rate = f", {self.records / working:.1f} records a second" if self.records and working >= 0.1 else ""
        yield f"{counted(self.records, 'record')} in {seconds:.1f} s{loading}{rate}"
        for checker, outcomes in sorted(self._outcomes.items()):
            counts = "   ".join(f"{outcome} {outcomes[outcome]}" for outcome in OUTCOMES)
            yield f"  {checker}: {counts}"
        if self._usage.calls or self._usage.cached:
            yield f"  asked: {self._cost()}"
        if self._bundled:
            yield from wrap(f"  {self._bundled} {BUNDLED_NOTE}", 80, subsequent_indent="    ")
        if self.unfinished:
            yield f"  {counted(self.unfinished, 'line')} could not be finished, see above"

    def _cost(self) -> str:
        usage = self._usage
        said = [f"{counted(usage.calls, 'call')} ({usage.subject_calls} to subjects)", f"{usage.cached} from the cache"]
        if usage.prompt_tokens or usage.completion_tokens:
            estimated = f" ({usage.estimated_tokens} of them estimated)" if usage.estimated_tokens else ""
            said.append(f"{usage.prompt_tokens} + {usage.completion_tokens} tokens{estimated}")
        if usage.cost:
            said.append(f"cost {usage.cost:.4g}")
        return ", ".join(said)


class FileSample:
    """Draws lines, and adds up the cost of checking them."""

    def __init__(self, lines: AsyncIterator[Line], size: int) -> None:
        """Draws `size` of `lines`, or all if there are no more."""
        self._from = lines
        self._size = size
        self._lines = 0
        self._usages: list[Usage] = []

    async def lines(self) -> AsyncIterator[Line]:
        """The drawn lines in order: each with the same probability, and always the same of a file."""
        drawn: list[Line] = []
        draw = generator("check", "sample")
        async for line in self._from:
            self._lines += 1
            if len(drawn) < self._size:
                drawn.append(line)
            elif (place := draw.randrange(self._lines)) < self._size:
                drawn[place] = line
        for line in sorted(drawn, key=lambda line: line.number):
            yield line

    def add(self, checked: CheckedLine) -> None:
        """Count the cost of a drawn line."""
        self._usages.append(sum((verdict.usage for verdict in checked.verdicts), Usage()))

    def report(self, seconds: float) -> Iterator[str]:
        """The costs as a table, a line at a time; `seconds` is the time that all checks took together."""
        if not (usages := self._usages):
            return
        yield f"{len(usages):,} of {self._lines:,} records drawn at random; the cost of all is estimated"
        yield f"{'':<15}{'these':>12}{'all':>14}  (95% interval)"
        # Checks overlap: each counts with its part of the whole time.
        apart = sum(usage.seconds for usage in usages) or 1.0
        yield self._row("calls", [usage.calls for usage in usages])
        yield self._row("prompt tokens", [usage.prompt_tokens for usage in usages])
        yield self._row("reply tokens", [usage.completion_tokens for usage in usages])
        if any(usage.cost for usage in usages) or not any(usage.prompt_tokens for usage in usages):
            yield self._row("price", [usage.cost for usage in usages], digits=4)
        else:
            yield f"  {'price':<13}{'not set':>12}"
        yield self._row("seconds", [usage.seconds * seconds / apart for usage in usages], digits=1)

    def _row(self, name: str, costs: Sequence[float], digits: int = 0) -> str:
        number = f",.{digits}f"
        row = f"  {name:<13}{sum(costs):>12{number}}{self._lines * mean(costs):>14{number}}"
        if len(costs) == 1:
            return row
        low, high = total(costs, self._lines)
        return f"{row}  ({low:{number}} to {high:{number}})"
