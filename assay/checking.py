"""Records from lines to verdicts, in order: as many at once as keep the judge busy, never more than fit in memory."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.in_order import in_order
from assay.lines import Line
from checkers.checker import Checker, unclaimed
from checkers.oracle.protocol import OracleUnavailable, StillLoading
from schemas import Envelope, Unreadable, Verdict, read_record

PATIENCE_SECONDS = 60.0
"""A judge that restarts or is throttled is back within a minute; a file is not held up longer than that for one that
is gone, its records abstain."""

_SHORTEST_PAUSE_SECONDS = 0.05


@dataclass(slots=True)
class Checked:
    """What became of a line."""

    line: Line
    kind: str | None = None
    """The record's kind; None where the line holds no record."""
    taken: bool = True
    """Whether a selected checker takes the kind."""
    verdicts: list[Verdict] = field(default_factory=list)
    """One a checker that takes the kind, in the checkers' order; an abstention where none does."""
    faults: list[str] = field(default_factory=list)
    """Why verdicts are missing that should be there."""


class Checking:
    """Puts records to checkers."""

    def __init__(
        self,
        checkers: Sequence[Checker[Any]],
        *,
        max_bytes: int,
        window: int,
        say: Callable[[str], None],
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """At most `window` lines are under way; `say` is told what whoever waits should know."""
        self._checkers = checkers
        self._max_bytes = max_bytes
        self._window = window
        self._say = say
        self._patience = patience_seconds
        self._down_since: float | None = None
        self._loading_told = False
        self.judge_lost = False
        """Whether the judge was away for longer than the patience."""

    async def run(self, lines: AsyncIterator[Line], emit: Callable[[Checked], None]) -> None:
        """Tell `emit` what became of each line, in the lines' order, as soon as it and all before it are done."""
        await in_order(lines, self._line, emit, window=self._window)

    async def _line(self, line: Line) -> Checked:
        checked = Checked(line)
        try:
            if len(line.data) > self._max_bytes:
                raise Unreadable("oversized", f"{line.length} bytes; allowed are {self._max_bytes} (records.max_bytes)")
            record = read_record(line.data, max_bytes=self._max_bytes)
        except Unreadable as error:
            checked.faults.append(f"{error.reason}: {error.detail}")
            return checked
        checked.kind = kind = str(getattr(record, "kind", ""))
        taking = [checker for checker in self._checkers if kind in checker.kinds]
        if not taking:
            checked.taken = False
            detail = f"no selected checker takes the kind {kind!r}"
            checked.verdicts.append(unclaimed(record, detail))
        for result in await asyncio.gather(*(self._verdict(checker, record) for checker in taking)):
            if isinstance(result, Verdict):
                checked.verdicts.append(result)
            else:
                checked.faults.append(result)
        return checked

    async def _verdict(self, checker: Checker[Any], record: Envelope) -> Verdict | str:
        while True:
            try:
                verdict = await checker.check(record)
            except OracleUnavailable as error:
                if self._out_of_patience(error):
                    detail = f"the judge could not be reached for {self._patience:g} s: {error.detail}"
                    return checker.abstain(record, "judge_failed", detail)
                await asyncio.sleep(min(max(error.retry_after, _SHORTEST_PAUSE_SECONDS), self._patience))
            except Exception as error:  # noqa: BLE001 - one record's failure must not cost the others their verdicts
                return f"{checker.name} failed on record {record.id}: {type(error).__name__}"
            else:
                self._down_since = None
                return verdict

    def _out_of_patience(self, error: OracleUnavailable) -> bool:
        if isinstance(error, StillLoading):
            if not self._loading_told:
                self._loading_told = True
                self._say(f"{error.detail}…")
            return False
        now = time.monotonic()
        if self._down_since is None:
            self._down_since = now
            self._say(f"the judge cannot be reached ({error.detail}); trying for {self._patience:g} s")
        lost = now - self._down_since >= self._patience
        self.judge_lost = self.judge_lost or lost
        return lost
