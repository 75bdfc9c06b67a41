"""Verdicts as a JUnit report, which CI systems show as tests."""

import re
import shutil
import tempfile
from collections import Counter
from typing import BinaryIO
from xml.etree import ElementTree as ET

from assay.file_check import CheckedLine
from assay.verdict_printer import VerdictPrinter

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
