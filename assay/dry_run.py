"""The cost of checking a file, by checker: every record is read, no model is asked or loaded."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.lines import Line
from checkers.cascade import CascadeChecker
from checkers.checker import Checker, Undecidable
from checkers.estimate import CHARACTERS_A_TOKEN, Load
from models.settings import EndpointSettings
from models.wording import counted
from schemas import Envelope, Unreadable

_MILLION = 1_000_000


@dataclass(slots=True)
class Tally:
    """The records that one checker takes, and what they cost."""

    records: int = 0
    unasked: int = 0
    """Records that are abstained on without a call."""
    unknown: int = 0
    """Records of which the checker does not say what they cost."""
    expected: Load = field(default_factory=Load)
    expected_price: float = 0.0
    most: Load = field(default_factory=Load)
    most_price: float = 0.0

    def add(self, other: "Tally") -> None:
        """Add another checker's."""
        for name in ("records", "unasked", "unknown", "expected", "expected_price", "most", "most_price"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class DryRun:
    """Reckons what the records on lines would cost."""

    def __init__(
        self,
        checkers: Sequence[Checker[Any]],
        *,
        judge: EndpointSettings,
        subjects: Mapping[str, EndpointSettings],
        max_bytes: int,
        strict: bool = False,
    ) -> None:
        """Prices are those of `judge` and `subjects`; lines are read as by `Line.record`."""
        self._checkers = checkers
        self._judge = judge
        self._subjects = subjects
        self._max_bytes = max_bytes
        self._strict = strict
        self.records = 0
        self.unreadable = 0
        """Lines that hold no record."""
        self.untaken = 0
        """Records whose kind no selected checker takes."""
        self.tallies = {checker.name: Tally() for checker in checkers}
        self._cascades = {checker.name for checker in checkers if isinstance(checker, CascadeChecker)}

    async def run(self, lines: AsyncIterator[Line], say: Callable[[str], None]) -> None:
        """Read all lines; `say` is told of those that hold no record."""
        async for line in lines:
            try:
                record = line.record(max_bytes=self._max_bytes, strict=self._strict)
            except Unreadable as error:
                self.unreadable += 1
                say(f"line {line.number}: {error.reason}: {error.detail}")
            else:
                for fault in self._add(record):
                    say(f"line {line.number}: {fault}")

    def _add(self, record: Envelope) -> Iterator[str]:
        """Count a record; yields what went wrong with it."""
        self.records += 1
        taking = [checker for checker in self._checkers if getattr(record, "kind", None) in checker.kinds]
        self.untaken += not taking
        for checker in taking:
            tally = self.tallies[checker.name]
            tally.records += 1
            try:
                estimate = checker.estimate(record)
            except Undecidable:
                tally.unasked += 1
                continue
            except Exception as error:  # noqa: BLE001 - a checker of another package may raise anything
                yield f"{checker.name} failed on record {record.id}: {type(error).__name__}"
                estimate = None
            if estimate is None:
                tally.unknown += 1
                continue
            asked = [(self._judge, estimate.judge)]
            if record.model in self._subjects:
                asked.append((self._subjects[record.model], estimate.subject))
            for settings, range_ in asked:
                tally.expected += range_.expected
                tally.expected_price += _price(range_.expected, settings)
                tally.most += range_.most
                tally.most_price += _price(range_.most, settings)

    def lines(self) -> Iterator[str]:
        """The table for a person, a line at a time."""
        yield f"{counted(self.records, 'record')}; nothing was asked"
        yield f"{'':<13}{'records':>8}  {'':<8}{'calls':>10}{'prompt tokens':>16}{'reply tokens':>16}{'price':>12}"
        rows = dict(self.tallies)
        if len(rows) > 1:
            rows["all"] = Tally()
            for tally in self.tallies.values():
                rows["all"].add(tally)
        for name, tally in rows.items():
            if tally.unknown and tally.unknown == tally.records:
                yield f"{name:<13}{tally.records:>8}  unknown: the checker does not say what it asks"
                continue
            yield f"{name:<13}{tally.records:>8}  {'expected':<8}{_row(tally.expected, tally.expected_price)}"
            yield f"{'':<13}{'':>8}  {'at most':<8}{_row(tally.most, tally.most_price)}"
        yield from self._notes(rows)

    def _notes(self, rows: Mapping[str, Tally]) -> Iterator[str]:
        for name, tally in rows.items():
            if name == "all":
                continue
            if name in self._cascades:
                yield f"{name}: as if the cascade's local judge decided nothing; what it decides costs nothing"
            if tally.unasked:
                yield f"{name}: {counted(tally.unasked, 'record')} abstained on without a call"
            if 0 < tally.unknown < tally.records:
                yield f"{name}: the cost of {counted(tally.unknown, 'record')} is not known"
        if self.untaken:
            yield f"{counted(self.untaken, 'record')} of a kind that no selected checker takes"
        if self.unreadable:
            yield f"{counted(self.unreadable, 'line')} without a record that can be read"
        yield (
            f"Tokens are reckoned at {CHARACTERS_A_TOKEN} characters each. Repeats of requests that fail, and of "
            "replies that cannot be used, come on top."
        )
        yield "Answers from the cache cost nothing."

    def documents(self) -> Iterator[dict[str, Any]]:
        """The same as JSON, an object a checker."""
        for name, tally in self.tallies.items():
            yield {
                "checker": name,
                "records": tally.records,
                "unasked": tally.unasked,
                "unknown": tally.unknown,
                "cascade": name in self._cascades,
                "expected": _document(tally.expected, tally.expected_price),
                "at_most": _document(tally.most, tally.most_price),
            }


def _price(load: Load, settings: EndpointSettings) -> float:
    prompt, completion = settings.prompt_price, settings.completion_price
    return (load.prompt_tokens * prompt + load.completion_tokens * completion) / _MILLION


def _row(load: Load, price: float) -> str:
    return f"{load.calls:>10,.0f}{load.prompt_tokens:>16,.0f}{load.completion_tokens:>16,.0f}{price:>12,.4f}"


def _document(load: Load, price: float) -> dict[str, float]:
    return {
        "calls": round(load.calls, 1),
        "prompt_tokens": round(load.prompt_tokens),
        "completion_tokens": round(load.completion_tokens),
        "cost": round(price, 6),
    }
