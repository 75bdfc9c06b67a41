"""The records on the lines of a file, checked in order: as many at once as keep the judge busy and fit in memory."""

import asyncio
import os
import select
import stat
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from agents.routing import from_sources
from assay.config import Configuration
from checkers.checker import Checker, unclaimed
from checkers.model_patience import ModelLost, ModelPatience, ModelRefuses
from checkers.sessions import Sessions
from models.concurrent import in_order
from models.protocol import ModelFailed
from schemas import Envelope, Unreadable, Verdict, read_record
from schemas.records import misspelt_hint

_CHUNK_BYTES = 262_144
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Editors on Windows write it before the first record."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank."""

    number: int
    """From 1, blank lines included."""
    data: bytes
    """Without the line break, and of a line that is too long only the beginning."""
    length: int
    """Bytes of the whole line."""
    end: int
    """Bytes of the input up to the end of this line."""
    lines: int = 1
    """More than 1 for JSON that goes on over further lines; `data` is then the first of them."""

    def record(self, *, max_bytes: int, strict: bool = False) -> Envelope:
        """The record on this line; `strict` refuses misspelt fields.

        Raises:
            Unreadable: it is not a record, or longer than `max_bytes`.
        """
        if self.lines > 1:
            several = "a JSON array" if self.data.lstrip().startswith(b"[") else "this one"
            raise Unreadable("not_json", f"a record must be on one line; {several} takes {self.lines}")
        if len(self.data) > max_bytes:
            raise Unreadable("oversized", f"{self.length} bytes; allowed are {max_bytes} (records.max_bytes)")
        record = read_record(self.data, max_bytes=max_bytes)
        if strict and (hint := misspelt_hint(record.misspelt)):
            raise Unreadable("invalid_record", hint)
        return record


async def read_lines(stream: BinaryIO, *, keep_bytes: int) -> AsyncIterator[Line]:
    """The lines of `stream` that are not blank; at most `keep_bytes` + 1 bytes of a line are kept in memory.

    JSON that is laid out over several lines comes as one line, so that it is one fault and not one for each line.
    """
    opened: Line | None = None
    before = b""
    async for line in _every_line(stream, keep_bytes=keep_bytes):
        text = line.data.strip()
        goes_on = opened is not None and not _begins_record(line.data, within=opened.data, after=before)
        before = text
        if opened is not None and goes_on:
            opened = replace(opened, end=line.end, lines=line.number - opened.number + 1)
            if line.data.startswith((b"}", b"]")):
                yield opened
                opened = None
            continue
        if opened is not None:
            yield opened
        is_open = text.startswith((b"{", b"[")) and not text.endswith((b"}", b"]"))
        # The end of a line that is too long was not kept.
        opened = line if is_open and len(line.data) <= keep_bytes else None
        if opened is None:
            yield line
    if opened is not None:
        yield opened


def _begins_record(data: bytes, *, within: bytes, after: bytes) -> bool:
    """True for a whole record, and for an object within another that is not indented."""
    text = data.strip()
    whole = text.startswith(b"{") and text.endswith(b"}") and b'"kind"' in text
    if within.startswith(b"["):
        # An element of an array follows a comma; the line of a log may begin with a bracket, too.
        return whole and not after.endswith((b",", b"["))
    return whole or data.startswith(b"{")


async def _every_line(stream: BinaryIO, *, keep_bytes: int) -> AsyncIterator[Line]:
    number, end, length = 1, 0, 0
    kept = bytearray()
    async for chunk in _chunks(stream):
        # Unlike `splitlines`, which ends lines at carriage returns too.
        *whole, rest = chunk.split(b"\n")
        for piece in (*(part + b"\n" for part in whole), rest):
            length += len(piece)
            end += len(piece)
            kept += piece[: max(keep_bytes + 1 - len(kept), 0)]
            if piece.endswith(b"\n"):
                if line := _line(number, kept, length, end):
                    yield line
                number, kept, length = number + 1, bytearray(), 0
    if line := _line(number, kept, length, end):
        yield line


def _line(number: int, kept: bytearray, length: int, end: int) -> Line | None:
    data = bytes(kept.removeprefix(_BYTE_ORDER_MARK) if number == 1 else kept).rstrip(b"\r\n")
    return Line(number, data, length, end) if data.strip() else None


async def _chunks(stream: BinaryIO) -> AsyncIterator[bytes]:
    descriptor = stream.fileno()
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    while True:
        if not is_file and not select.select([descriptor], [], [], 0)[0]:
            # The writer of a pipe may be slow: checks in progress continue.
            await _readable(descriptor)
        if not (chunk := os.read(descriptor, _CHUNK_BYTES)):
            return
        yield chunk


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


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
        self._has_turns = any(checker.turns for checker in checkers)

    async def run(self, lines: AsyncIterator[Line], emit: Callable[[CheckedLine], None]) -> None:
        """Call `emit` with each line, in order, as soon as it and all before it are finished."""
        sessions = Sessions()

        async def each() -> AsyncIterator[tuple[Line, Envelope | Unreadable]]:
            async for line in lines:
                # A finished line may wait for others and needs no bytes.
                yield replace(line, data=b""), self._read(line, sessions)

        await in_order(each(), self._line, emit, window=self._window, ahead=_AHEAD * self._window)

    async def records(self, records: Iterable[Envelope]) -> list[tuple[list[Verdict], list[str]]]:
        """As `record`, for each of them in order."""
        sessions = Sessions()

        async def each() -> AsyncIterator[Envelope]:
            for record in records:
                yield self._followed(record, sessions)

        found: list[tuple[list[Verdict], list[str]]] = []
        await in_order(each(), self.record, found.append, window=self._window, ahead=_AHEAD * self._window)
        return found

    async def record(self, record: Envelope) -> tuple[list[Verdict], list[str]]:
        """The verdicts of the checkers of the record's kind, and reasons for missing ones."""
        kind = str(getattr(record, "kind", ""))
        taking = self._taking(record)
        if not taking:
            of = f" of source {record.source!r}" if any(kind in checker.kinds for checker in self._checkers) else ""
            return [unclaimed(record, f"no selected checker checks the kind {kind!r}{of}")], []
        results = await asyncio.gather(*(self._verdict(checker, record) for checker in taking))
        return (
            [result for result in results if isinstance(result, Verdict)],
            [result for result in results if isinstance(result, str)],
        )

    def _read(self, line: Line, sessions: Sessions) -> Envelope | Unreadable:
        try:
            record = line.record(max_bytes=self._max_bytes, strict=self._strict)
        except Unreadable as error:
            return error
        return self._followed(record, sessions)

    def _followed(self, record: Envelope, sessions: Sessions) -> Envelope:
        """The record with what was said before it, if a checker asks for that."""
        return sessions.follow(record) if self._has_turns else record

    async def _line(self, read: tuple[Line, Envelope | Unreadable]) -> CheckedLine:
        line, record = read
        checked = CheckedLine(line)
        if isinstance(record, Unreadable):
            checked.faults.append(f"{record.reason}: {record.detail}")
            return checked
        checked.kind = str(getattr(record, "kind", ""))
        checked.taken = bool(self._taking(record))
        checked.verdicts, checked.faults = await self.record(record)
        return checked

    def _taking(self, record: Envelope) -> list[Checker[Any]]:
        kind = getattr(record, "kind", "")
        return [one for one in self._checkers if kind in one.kinds and from_sources(record.source, one.sources)]

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
    """A check with enough records in progress to keep the configured judge busy."""
    window = _WINDOW if loaded.judge.backend == "local" else max(_WINDOW, 2 * loaded.judge.concurrency)
    max_bytes = loaded.streams.records.max_bytes
    return FileCheck(checkers, max_bytes=max_bytes, window=window, patience=patience, strict=strict)
