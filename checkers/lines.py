"""The lines of a file, such as of JSON lines, read one by one."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from schemas import explain

_MOST_BYTES = 1 << 20
"""Bound on a line; longer ones are faults."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

FormT = TypeVar("FormT", bound=BaseModel)


def read_forms(form: type[FormT], path: Path, what: str, *, fault: type[ValueError] = ValueError) -> Iterator[FormT]:
    """The lines of a file of JSON lines, one by one, each of this form; `what` is what they hold, in words.

    Raises:
        ValueError: as `fault`: the file cannot be read or holds no line, or a line is too long or of another form; the
            message names file and line.
    """
    number = read = 0
    try:
        with path.open("rb") as stream:
            while line := stream.readline(_MOST_BYTES + 2):
                number += 1
                data = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
                if len(data) > _MOST_BYTES:
                    raise fault(f"{path}:{number}: longer than {_MOST_BYTES} bytes")
                if not data:
                    continue
                read += 1
                try:
                    found = form.model_validate_json(data)
                    # It refuses numbers that are none, which pydantic takes.
                    orjson.loads(data)
                except ValueError as error:
                    told = explain(error) if isinstance(error, ValidationError) else f"not JSON: {error}"
                    raise fault(f"{path}:{number}: {told}; expected {what}") from None
                yield found
    except OSError as error:
        raise fault(f"{path}: cannot be read: {error.strerror or error}") from None
    if not read:
        raise fault(f"{path}: holds no {what}")
