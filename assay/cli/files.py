"""Files that commands read and write, or standard input and output."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from assay.cli.front_door import WrongUse

DASH = Path("-")
"""Stands for standard input and standard output."""


@contextmanager
def reading(file: Path) -> Iterator[BinaryIO]:
    """The bytes of `file`.

    Raises:
        WrongUse: it cannot be opened.
    """
    if file == DASH:
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise WrongUse(f"{file} cannot be read: {error.strerror}") from None
    with stream:
        yield stream


@contextmanager
def writing(file: Path | None, *, source: Path | None = None) -> Iterator[BinaryIO]:
    """The stream to write to: `file`, or standard output if it is None.

    Raises:
        WrongUse: it cannot be opened, or it is `source`, which would be lost.
    """
    if file is None or file == DASH:
        yield sys.stdout.buffer
        return
    if source is not None and file.exists() and source.exists() and file.samefile(source):
        raise WrongUse(f"{file} is the file that is read; writing to it would lose it")
    try:
        stream = file.open("wb")
    except OSError as error:
        raise WrongUse(f"{file} cannot be written: {error.strerror}") from None
    with stream:
        yield stream


def size_of(source: BinaryIO) -> int | None:
    """Bytes of a file; None if it is no regular one."""
    status = os.fstat(source.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None
