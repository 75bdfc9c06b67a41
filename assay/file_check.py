"""The records on the lines of a file, checked in order: as many at once as keep the judge busy and fit in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from cachetools import LRUCache

from assay.config import Configuration
from checkers.checker import Checker, unclaimed
from checkers.model_patience import ModelLost, ModelPatience, ModelRefuses
from models.protocol import ModelFailed
from models.work import in_order
from schemas import Envelope, Generation, Turn, Unreadable, Verdict
from streams.record_lines import Line

_MOST_SESSIONS = 10_000
"""Of more, the ones silent for longest are forgotten."""
_AHEAD = 16
"""Windows of finished verdicts that wait for a slow record before them."""
_WINDOW = 64
"""Records in progress: enough for the batches of a local judge, and the least for an endpoint."""


@dataclass(slots=True)
class CheckedLine:
    """A line with its verdicts."""

    line: Line
    """Without its bytes."""
    kind: str | None = None
    """The record's kind; None if the line holds no record."""
    taken: bool = True
    """True if a selected checker checks the kind."""
    verdicts: list[Verdict] = field(default_factory=list)
    """One of each checker of the kind, in the checkers' order; an abstention if there is none."""
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
        """At most `window` lines are checked at the same time, and 16 times as many finished ones wait for a slow one.

        Records longer than `max_bytes` are faults; if `strict`, so are those with a misspelt field.
        """
        # A file does not tell when a conversation has ended.
        self._checkers = [checker for checker in checkers if checker.unit == "record"]
        self._max_bytes = max_bytes
        self._window = window
        self._patience = patience
        self._strict = strict
        self._turns = max((checker.turns for checker in self._checkers), default=0)

    async def run(self, lines: AsyncIterator[Line], emit: Callable[[CheckedLine], None]) -> None:
        """Call `emit` with each line, in order, as soon as it and all before it are finished."""
        sessions = _Sessions(self._turns)

        async def each() -> AsyncIterator[tuple[Line, Envelope | Unreadable]]:
            async for line in lines:
                record: Envelope | Unreadable
                try:
                    record = sessions.follow(line.record(max_bytes=self._max_bytes, strict=self._strict))
                except Unreadable as error:
                    record = error
                # A finished line may wait for others and needs no bytes.
                yield replace(line, data=b""), record

        await in_order(each(), self._line, emit, window=self._window, ahead=_AHEAD * self._window)

    async def records(self, records: Iterable[Envelope]) -> list[CheckedLine]:
        """The verdicts on each of them, in order."""
        sessions, found = _Sessions(self._turns), list[CheckedLine]()

        async def each() -> AsyncIterator[tuple[Line, Envelope]]:
            for number, record in enumerate(records, 1):
                yield Line(number, b"", length=0, end=0), sessions.follow(record)

        await in_order(each(), self._line, found.append, window=self._window, ahead=_AHEAD * self._window)
        return found

    async def _line(self, read: tuple[Line, Envelope | Unreadable]) -> CheckedLine:
        line, record = read
        checked = CheckedLine(line)
        if isinstance(record, Unreadable):
            checked.faults.append(f"{record.reason}: {record.detail}")
            return checked
        kind = checked.kind = str(getattr(record, "kind", ""))
        taking = [one for one in self._checkers if kind in one.kinds]
        checked.taken = bool(taking)
        if not taking:
            checked.verdicts.append(unclaimed(record, f"no selected checker checks the kind {kind!r}"))
        for result in await asyncio.gather(*(self._verdict(checker, record) for checker in taking)):
            if isinstance(result, Verdict):
                checked.verdicts.append(result)
            else:
                checked.faults.append(result)
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


class _Sessions:
    """What was said before each record of a file, in its order; sources and tenants have their own sessions."""

    def __init__(self, turns: int) -> None:
        self._most = turns
        self._said: LRUCache[tuple[Any, ...], dict[str, Turn]] = LRUCache(_MOST_SESSIONS)

    def follow(self, record: Envelope) -> Envelope:
        """The record behind the turns before it, and from now on one of them; each id is one turn."""
        if not isinstance(record, Generation) or record.session is None or not self._most:
            return record
        said = self._said.setdefault((record.tenant, record.source, record.session), {})
        earlier = tuple(takewhile(lambda turn: turn.record_id != record.id, said.values()))
        said.setdefault(record.id, record.turn)
        if len(said) > 2 * self._most:
            del said[next(iter(said))]
        return record.after(earlier[-self._most :])


def configured_check(
    checkers: Sequence[Checker[Any]], loaded: Configuration, patience: ModelPatience, *, strict: bool = False
) -> FileCheck:
    """A check with enough records in progress to keep the configured judge busy."""
    window = _WINDOW if loaded.judge.backend == "local" else max(_WINDOW, 2 * loaded.judge.concurrency)
    max_bytes = loaded.streams.records.max_bytes
    return FileCheck(checkers, max_bytes=max_bytes, window=window, patience=patience, strict=strict)
