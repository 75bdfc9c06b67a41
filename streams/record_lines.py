"""The lines of a file or a pipe that should be records; no line is longer in memory than a record may be."""

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
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # Editors on Windows write it before the first record.


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank."""

    number: int  # From 1, blank lines included.
    data: bytes  # Without the line break, and of a line that is too long only the beginning.
    length: int  # Bytes of the whole line.
    end: int  # Bytes of the input up to the end of this line.
    lines: int = 1  # More than 1 for JSON that goes on over further lines; `data` is then the first of them.

    def record(self, *, max_bytes: int, strict: bool = False) -> Envelope:
        """The record on this line, else `Unreadable`; `strict` refuses misspelt fields."""
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
        is_whole = text.startswith(b"{") and text.endswith(b"}")
        # An element of an array or of a list within a record follows a comma or a bracket.
        begins = (is_whole or line.data.startswith(b"{")) and not before.endswith((b",", b"["))
        before = text
        if opened is not None and not begins:
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
    descriptor, loop = stream.fileno(), asyncio.get_running_loop()
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    while True:
        if not is_file and not select.select([descriptor], [], [], 0)[0]:
            # The writer of a pipe may be slow: checks in progress continue.
            ready = asyncio.Event()
            loop.add_reader(descriptor, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(descriptor)
        if not (chunk := os.read(descriptor, _CHUNK_BYTES)):
            return
        yield chunk
