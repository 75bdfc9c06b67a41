"""What runs tell a person: tables and lists of figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Report(NamedTuple):
    """The figures of a run, for programs and, as lines, for people."""

    figures: Mapping[str, Any]
    lines: Sequence[str]


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a table, its columns as wide as what is in them; fractions have three digits, None is a dash."""
    cells = [list(header), *([_cell(one) for one in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(header))]
    for first, *others in cells:
        aligned = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([f"{first:<{widths[0]}}", *aligned]).rstrip()


def table_of(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """The lines of a table whose columns are the keys of its rows; none if there are no rows."""
    if rows:
        yield from table([name.replace("_", " ") for name in rows[0]], [list(row.values()) for row in rows])


def listing(summary: Mapping[str, Any]) -> Iterator[str]:
    """A line for each figure, and for each within one; what is not known is left out."""
    for name, value in summary.items():
        if isinstance(value, Mapping):
            yield from listing({f"{name}, {key}": one for key, one in value.items()})
        elif value is not None:
            yield f"{name:<32}  {' to '.join(map(_cell, value)) if isinstance(value, list) else _cell(value)}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else str(value)
