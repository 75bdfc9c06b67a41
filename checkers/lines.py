"""The lines of a file, such as of JSON lines, read one by one."""

from collections.abc import Iterator
from pathlib import Path

_MOST_BYTES = 1 << 20
"""Bound on a line; longer ones are faults."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def numbered_lines(path: Path, fault: type[ValueError]) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, stripped, with their numbers.

    Raises:
        ValueError: as `fault`: the file cannot be read, or a line is too long; the message names file and line.
    """
    number = 0
    try:
        with path.open("rb") as stream:
            while line := stream.readline(_MOST_BYTES + 2):
                number += 1
                data = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
                if len(data) > _MOST_BYTES:
                    raise fault(f"{path}:{number}: longer than {_MOST_BYTES} bytes")
                if data:
                    yield number, data
    except OSError as error:
        raise fault(f"{path}: cannot be read: {error.strerror or error}") from None
