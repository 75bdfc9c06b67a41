"""A file's records, checked in order: enough at the same time to keep the judge busy, never more than fit in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.config import Configuration
from assay.lines import Line
from checkers.checker import Checker, unclaimed
from checkers.model_patience import ModelLost, ModelPatience, ModelRefuses
from models.concurrent import in_order
from models.protocol import ModelFailed
from schemas import Envelope, Unreadable, Verdict

_AHEAD = 16
"""So many windows of verdicts wait for a record before theirs that takes long."""
_WINDOW = 64
"""Records under way with a local judge, whose batches they keep full, and at least with an endpoint."""


@dataclass(slots=True)
class CheckedLine:
    """A line with its verdicts."""

    line: Line
    """Without its bytes."""
    kind: str | None = None
    """The record's kind; None if the line holds no record."""
    taken: bool = True
    """True if a selected checker takes the kind."""
    verdicts: list[Verdict] = field(default_factory=list)
    """One of each checker that takes the kind, in the checkers' order; an abstention if none does."""
    faults: list[str] = field(default_factory=list)
    """Reasons for missing verdicts."""


class FileCheck:
    """Checks the records on lines."""

    def __init__(
        self,
        checkers: Sequence[Checker[Any]],
        *,
        max_bytes: int,
        window: int,
        patience: ModelPatience,
        strict: bool = False,
    ) -> None:
        """At most `window` lines are checked at the same time; longer records than `max_bytes` are faults.

        So are, if `strict`, records with a field that is nearly a known one.

        Verdicts that are there wait for a line before theirs that takes long, of up to 16 times as many lines.
        """
        self._checkers = checkers
        self._max_bytes = max_bytes
        self._window = window
        self._patience = patience
        self._strict = strict

    async def run(self, lines: AsyncIterator[Line], emit: Callable[[CheckedLine], None]) -> None:
        """Call `emit` with each line, in their order, as soon as it and all before it are finished."""
        await in_order(lines, self._line, emit, window=self._window, ahead=_AHEAD * self._window)

    async def records(self, records: Iterable[Envelope]) -> list[tuple[list[Verdict], list[str]]]:
        """As `record`, of each of them, in their order."""

        async def each() -> AsyncIterator[Envelope]:
            for record in records:
                yield record

        found: list[tuple[list[Verdict], list[str]]] = []
        await in_order(each(), self.record, found.append, window=self._window, ahead=_AHEAD * self._window)
        return found

    async def record(self, record: Envelope) -> tuple[list[Verdict], list[str]]:
        """The verdicts of the checkers that take the record's kind, and reasons for those that are missing."""
        kind = str(getattr(record, "kind", ""))
        taking = [checker for checker in self._checkers if kind in checker.kinds]
        if not taking:
            return [unclaimed(record, f"no selected checker takes the kind {kind!r}")], []
        results = await asyncio.gather(*(self._verdict(checker, record) for checker in taking))
        return (
            [result for result in results if isinstance(result, Verdict)],
            [result for result in results if isinstance(result, str)],
        )

    async def _line(self, line: Line) -> CheckedLine:
        # What is finished may wait for others, and needs its bytes no more.
        checked = CheckedLine(replace(line, data=b""))
        try:
            record = line.record(max_bytes=self._max_bytes, strict=self._strict)
        except Unreadable as error:
            checked.faults.append(f"{error.reason}: {error.detail}")
            return checked
        checked.kind = kind = str(getattr(record, "kind", ""))
        checked.taken = any(kind in checker.kinds for checker in self._checkers)
        checked.verdicts, checked.faults = await self.record(record)
        return checked

    async def _verdict(self, checker: Checker[Any], record: Envelope) -> Verdict | str:
        try:
            return await self._patience.until_answered(lambda: checker.check(record))
        except (ModelFailed, ModelLost) as error:
            return checker.abstain(record, "judge_failed", str(error))
        except ModelRefuses:
            raise
        except Exception as error:  # noqa: BLE001 - one record's failure must not cost the others their verdicts
            return f"{checker.name} failed on record {record.id}: {type(error).__name__}"


def configured_check(
    checkers: Sequence[Checker[Any]], loaded: Configuration, patience: ModelPatience, *, strict: bool = False
) -> FileCheck:
    """A check of so many records at the same time that the configured judge is never idle."""
    window = _WINDOW if loaded.judge.backend == "local" else max(_WINDOW, 2 * loaded.judge.concurrency)
    max_bytes = loaded.streams.records.max_bytes
    return FileCheck(checkers, max_bytes=max_bytes, window=window, patience=patience, strict=strict)
