"""Lines from a file or from standard input, whatever their number and length, and the records on them."""

import asyncio
import os
import select
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from schemas import Envelope, Unreadable, read_record
from schemas.records import misspelt_hint

_CHUNK_BYTES = 262_144
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Editors on Windows write it; it is no part of the first record."""


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
        """The record on this line; a strict reader takes none with a field that is nearly a known one.

        Raises:
            Unreadable: there is none, or a longer one than `max_bytes`.
        """
        if self.lines > 1:
            several = "a JSON array" if self.data.lstrip().startswith(b"[") else "this one"
            raise Unreadable("not_json", f"a record must stand on one line; {several} takes {self.lines}")
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
        # The end of a line that is too long was not kept.
        opened = line if len(line.data) <= keep_bytes and _is_open(text) else None
        if opened is None:
            yield line
    if opened is not None:
        yield opened


def _is_open(text: bytes) -> bool:
    return text.startswith((b"{", b"[")) and not text.endswith((b"}", b"]"))


def _begins_record(data: bytes, *, within: bytes, after: bytes) -> bool:
    """True for a whole record, and for the beginning of an object that is indented no more than what it follows."""
    text = data.strip()
    if not text.startswith(b"{"):
        return False
    whole = text.endswith(b"}") and b'"kind"' in text
    if within.startswith(b"["):
        # The next of an array stands behind a comma; a log's line may begin with a bracket, too.
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
            # A pipe's writer may be slow: the checks under way go on meanwhile.
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
