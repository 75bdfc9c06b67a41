"""Progress on a terminal: a bar, messages anywhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class Progress:
    """Tells the person who waits how far a run is."""

    def __init__(self, bar: "Bar | None", total: int | None, *, stderr: bool) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=total) if bar else None
        self._stderr = stderr

    def say(self, message: str) -> None:
        """Print a line."""
        if self._bar is None:
            click.echo(message, err=self._stderr)
        else:
            from rich.text import Text

            self._bar.console.print(Text.from_ansi(message))

    def at(self, done: int, note: str) -> None:
        """So much of the total is done."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, description=note)


@contextmanager
def progress(total: int | None, *, bar: bool | None = None, stderr: bool = True) -> Iterator[Progress]:
    """A bar of `total` steps on a terminal, or if `bar`; `total` is None if the end is not known."""
    if not (sys.stderr.isatty() if bar is None else bar):
        yield Progress(None, total, stderr=stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=stderr), transient=True) as shown:
        yield Progress(shown, total, stderr=stderr)
