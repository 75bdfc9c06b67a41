"""Human labels of records: a field beside the record's own, on the same line."""

from collections.abc import AsyncIterator
from typing import Any

import orjson

from assay.lines import Line

_ACCEPTS = {"accept": True, "reject": False}


class LabelUnreadable(ValueError):
    """A label that is neither; the message names the line, the label and what is allowed."""


class LabelledLines:
    """The lines of records that have a label, which it keeps."""

    def __init__(self, lines: AsyncIterator[Line]) -> None:
        self._lines = lines
        self.accepts: dict[int, bool] = {}
        """True for `accept`, False for `reject`, by the line's number."""
        self.without = 0
        """Records that have no label; they are passed over."""

    async def __aiter__(self) -> AsyncIterator[Line]:
        """The lines.

        Raises:
            LabelUnreadable: a label is not `accept` or `reject`.
        """
        async for line in self._lines:
            if line.lines > 1:
                # Whoever reads the record says what is wrong.
                yield line
                continue
            label = _label_on(line)
            if label is None:
                self.without += 1
                continue
            if not isinstance(label, str) or label not in _ACCEPTS:
                raise LabelUnreadable(
                    f"line {line.number}: label is {str(label)[:40]!r}; allowed are accept and reject"
                )
            self.accepts[line.number] = _ACCEPTS[label]
            yield line


def _label_on(line: Line) -> Any:
    try:
        record = orjson.loads(line.data)
    except orjson.JSONDecodeError:
        return None
    return record.get("label") if isinstance(record, dict) else None
