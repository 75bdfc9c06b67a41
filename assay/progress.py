"""Progress on a terminal: a bar, messages anywhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click


class Progress(Protocol):
    """Tells the person who waits how far a run is."""

    def say(self, message: str) -> None:
        """Print a line."""

    def at(self, done: int, note: str) -> None:
        """So much of the total is done."""


class _Quiet:
    def __init__(self, *, stderr: bool) -> None:
        self._stderr = stderr

    def say(self, message: str) -> None:
        click.echo(message, err=self._stderr)

    def at(self, done: int, note: str) -> None:
        pass


@contextmanager
def progress(total: int | None, *, bar: bool | None = None, stderr: bool = True) -> Iterator[Progress]:
    """A bar of `total` steps on a terminal, or if `bar`; `total` is None if the end is not known."""
    if not (sys.stderr.isatty() if bar is None else bar):
        yield _Quiet(stderr=stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=stderr), transient=True) as shown:
        task = shown.add_task("", total=total)

        class _Shown:
            def say(self, message: str) -> None:
                shown.console.print(Text.from_ansi(message))

            def at(self, done: int, note: str) -> None:
                shown.update(task, completed=done, description=note)

        yield _Shown()
