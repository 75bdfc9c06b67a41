"""The cost of checking a file, by checker: the real checkers run on models that answer by a script and ask nobody."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, linear_regression
from typing import Any

from assay.config import Configuration
from assay.lines import Line
from assay.wiring import wired
from checkers.cascade import CascadeChecker
from checkers.checker import Checker
from checkers.draws import generator
from checkers.plugin import CheckerPlugin
from checkers.rehearsal import CHARACTERS_A_TOKEN, NOT_MADE, SCRIPTS, USUAL, rehearsing
from models.wording import counted
from schemas import Envelope, Unreadable, Usage

SAMPLED = 40
"""Records of each checker that are tried; if there are more, these are drawn, and the others reckoned from them."""
_COLUMNS = ("calls", "prompt_tokens", "completion_tokens", "cost")
_ROWS = ("at_least", "expected", "at_most")


@dataclass(slots=True)
class _Tried:
    """A record, and what each script's models made of it."""

    line: int
    size: int
    record: Envelope
    usages: list[Usage] = field(default_factory=list)
    abstained: bool = True
    """True if it never got another verdict than an abstention."""
    fault: str | None = None
    """Why its cost is not known."""

    def cost(self, row: str, column: str) -> float:
        """The least, the usual or the greatest."""
        found = [float(getattr(usage, column)) for usage in self.usages]
        return {"at_least": min(found), "expected": found[SCRIPTS.index(USUAL)], "at_most": max(found)}[row]


@dataclass(slots=True)
class Tally:
    """The records that one checker takes, and what they cost."""

    records: int = 0
    size: int = 0
    """Bytes of all of them."""
    tried: list[_Tried] = field(default_factory=list)
    cascade: bool = False

    def add(self, line: Line, record: Envelope, draw: Random) -> None:
        """Count a record; it is tried with the same chance as every other."""
        self.records += 1
        self.size += line.length
        one = _Tried(line.number, line.length, record)
        if len(self.tried) < SAMPLED:
            self.tried.append(one)
        elif (place := draw.randrange(self.records)) < SAMPLED:
            self.tried[place] = one

    @property
    def known(self) -> list[_Tried]:
        return [one for one in self.tried if one.fault is None]

    @property
    def unknown(self) -> int:
        """About so many records cost nobody knows what."""
        return self.records - self._all_like(self.known)

    @property
    def unasked(self) -> int:
        """About so many records are abstained on without a call."""
        return self._all_like([one for one in self.known if one.abstained and not one.cost("at_most", "calls")])

    def _all_like(self, some: Sequence[_Tried]) -> int:
        return round(len(some) * self.records / max(len(self.tried), 1))

    def row(self, name: str) -> dict[str, float]:
        """The sums over all records whose cost is known."""
        return {column: self._times(column) * sum(one.cost(name, column) for one in self.known) for column in _COLUMNS}

    def _times(self, column: str) -> float:
        """All records cost so many times what those do that were tried: by their number and their sizes."""
        known = self.known
        costs, sizes = [one.cost("expected", column) for one in known], [float(one.size) for one in known]
        if len(self.tried) == self.records or not sum(costs):
            return 1.0
        slope = linear_regression(sizes, costs).slope if len(set(sizes)) > 1 else 0.0
        larger = slope * (self.size / self.records - fmean(sizes)) / fmean(costs)
        return max(1 + larger, 0.0) * self._all_like(known) / len(known)


class DryRun:
    """Tries what the records on lines would cost."""

    def __init__(self, configuration: Configuration, plugins: Sequence[CheckerPlugin], *, strict: bool = False) -> None:
        """Lines are read as by `Line.record`."""
        self._configuration = configuration
        self._plugins = plugins
        self._strict = strict
        self.records = 0
        self.unreadable = 0
        """Lines that hold no record."""
        self.untaken = 0
        """Records whose kind no selected checker takes."""
        self.tallies = {plugin.name: Tally() for plugin in plugins}

    async def run(self, lines: AsyncIterator[Line], say: Callable[[str], None]) -> None:
        """Read all lines; `say` is told of those that hold no record, or one on which a checker fails."""
        draw, max_bytes = generator("dry run", "sample"), self._configuration.streams.records.max_bytes
        async for line in lines:
            try:
                record = line.record(max_bytes=max_bytes, strict=self._strict)
            except Unreadable as error:
                self.unreadable += 1
                say(f"line {line.number}: {error.reason}: {error.detail}")
                continue
            self.records += 1
            taking = [one.name for one in self._plugins if getattr(record, "kind", None) in one.kinds]
            self.untaken += not taking
            for name in taking:
                self.tallies[name].add(line, record, draw)
        async with wired(self._configuration, self._plugins) as service:
            for script in SCRIPTS:
                models = rehearsing(service.models, self._configuration.judge, self._configuration.subjects, script)
                for plugin in self._plugins:
                    checker = plugin.build(self._configuration.checkers[plugin.name], models)
                    await self._try(checker, self.tallies[plugin.name])
        for name, tally in self.tallies.items():
            for one in tally.tried:
                if one.fault is not None:
                    say(f"line {one.line}: {name} failed on record {one.record.id}: {one.fault}")

    async def _try(self, checker: Checker[Any], tally: Tally) -> None:
        tally.cascade = isinstance(checker, CascadeChecker)
        try:
            for one in tally.known:
                try:
                    verdict = await checker.check(one.record)
                except Exception as error:  # noqa: BLE001 - a checker of another package may raise anything
                    one.fault = type(error).__name__
                    continue
                one.usages.append(verdict.usage)
                one.abstained &= verdict.outcome == "abstain"
                one.fault = NOT_MADE if NOT_MADE in verdict.reason else None
        finally:
            await checker.close()

    def lines(self) -> Iterator[str]:
        """The table for a person, a line at a time."""
        yield f"{counted(self.records, 'record')}; nothing was asked"
        yield f"{'':<13}{'records':>8}  {'':<8}{'calls':>10}{'prompt tokens':>16}{'reply tokens':>16}{'price':>12}"
        sums = {row: dict.fromkeys(_COLUMNS, 0.0) for row in _ROWS}
        for name, tally in self.tallies.items():
            if tally.tried and not tally.known:
                yield f"{name:<13}{tally.records:>8}  unknown"
                continue
            rows = {row: tally.row(row) for row in _ROWS}
            yield from _table(name, tally.records, rows)
            sums = {row: {one: sums[row][one] + rows[row][one] for one in _COLUMNS} for row in _ROWS}
        if len(self.tallies) > 1:
            yield from _table("all", sum(tally.records for tally in self.tallies.values()), sums)
        for name, tally in self.tallies.items():
            yield from (f"{name}: {note}" for note in _notes(tally))
        if self.untaken:
            yield f"{counted(self.untaken, 'record')} of a kind that no selected checker takes"
        if self.unreadable:
            yield f"{counted(self.unreadable, 'line')} without a record that can be read"
        yield (
            f"Tokens are reckoned at {CHARACTERS_A_TOKEN} characters each. Repeats of requests that fail, and of "
            "replies that cannot be used, come on top, and what a model thinks before it replies."
        )

    def documents(self) -> Iterator[dict[str, Any]]:
        """The same as JSON, an object a checker."""
        for name, tally in self.tallies.items():
            yield {
                "checker": name,
                "records": tally.records,
                "tried": len(tally.tried),
                "unasked": tally.unasked,
                "unknown": tally.unknown,
                "cascade": tally.cascade,
                **{
                    row: {
                        column: round(value, 6) if column == "cost" else round(value)
                        for column, value in tally.row(row).items()
                    }
                    for row in _ROWS
                },
            }


def _notes(tally: Tally) -> Iterator[str]:
    if len(tally.tried) < tally.records:
        yield f"reckoned from {len(tally.tried)} records, drawn at random"
    if tally.cascade:
        yield "at least, the cascade's local judge decides all, which costs nothing; else it is taken to decide nothing"
    if unasked := tally.unasked:
        yield f"{counted(unasked, 'record')} abstained on without a call"
    if unknown := tally.unknown:
        yield f"the cost of {counted(unknown, 'record')} is not known"


def _table(name: str, records: int, rows: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    begin = f"{name:<13}{records:>8}"
    for row, sums in rows.items():
        calls, prompt, completion, cost = (sums[column] for column in _COLUMNS)
        label = row.replace("_", " ")
        yield f"{begin:<21}  {label:<8}{calls:>10,.0f}{prompt:>16,.0f}{completion:>16,.0f}{cost:>12,.4f}"
        begin = ""
