"""Lines from a file or from standard input, whatever their number and length."""

import asyncio
import os
import select
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import BinaryIO

_CHUNK_BYTES = 262_144
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Editors on Windows write it; it is no part of the first record."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank."""

    number: int
    """From 1, blank lines included."""
    data: bytes
    """Without the line break; of a line that is too long only the beginning."""
    length: int
    """Bytes of the whole line."""
    end: int
    """Bytes of the input up to the end of this line."""


async def read_lines(stream: BinaryIO, *, keep_bytes: int) -> AsyncIterator[Line]:
    """The lines of `stream` that are not blank; at most `keep_bytes` + 1 bytes of a line are kept in memory."""
    number, end, length = 0, 0, 0
    kept = bytearray()
    async for chunk in _chunks(stream):
        for piece in _split(chunk):
            length += len(piece)
            end += len(piece)
            kept += piece[: keep_bytes + 1 - len(kept)] if len(kept) <= keep_bytes else b""
            if piece.endswith(b"\n"):
                number += 1
                if line := _line(number, kept, length, end):
                    yield line
                kept, length = bytearray(), 0
    if line := _line(number + 1, kept, length, end):
        yield line


def bounded_lines(stream: BinaryIO, *, keep_bytes: int) -> Iterator[bytes]:
    """Every line of `stream`, also blank ones; of a line longer than `keep_bytes` just enough to show that it is."""
    mark = _BYTE_ORDER_MARK
    while line := stream.readline(keep_bytes + 2):
        yield line.removeprefix(mark)
        mark = b""
        while line and not line.endswith(b"\n"):
            line = stream.readline(_CHUNK_BYTES)


def _split(chunk: bytes) -> list[bytes]:
    # Unlike `splitlines`, which ends lines at carriage returns too.
    *whole, rest = chunk.split(b"\n")
    return [piece + b"\n" for piece in whole] + ([rest] if rest else [])


def _line(number: int, kept: bytearray, length: int, end: int) -> Line | None:
    data = bytes(kept.removeprefix(_BYTE_ORDER_MARK) if number == 1 else kept).strip()
    return Line(number, data, length, end) if data else None


async def _chunks(stream: BinaryIO) -> AsyncIterator[bytes]:
    descriptor = stream.fileno()
    waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    while True:
        if waits:
            # A pipe's writer may be slow: the checks under way go on meanwhile.
            await _readable(descriptor)
        chunk = os.read(descriptor, _CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


async def _readable(descriptor: int) -> None:
    if select.select([descriptor], [], [], 0)[0]:
        return
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
