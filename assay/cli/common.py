"""For all commands: configuration, files and standard streams, progress, errors and the exit status."""

import asyncio
import logging
import os
import re
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click
import orjson

from assay.config import Configuration, Misconfigured, load_configuration
from checkers.checker import Models
from checkers.model_patience import ModelLost, ModelRefuses
from checkers.plugin import UnknownChecker
from models.model_loading import ModelUnusable
from models.protocol import ModelFailed, ModelUnavailable
from models.wording import first_line
from streams.errors import ExtraMissing, StreamError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

REJECTED = 1
WRONG_USE = 2
NOT_FINISHED = 3
INTERRUPTED = 130
"""As shells count a program that Ctrl-C ended."""


class WrongUse(click.ClickException):
    """Wrong usage or configuration."""

    exit_code = WRONG_USE


class NotFinished(click.ClickException):
    """The command was right but could not finish."""

    exit_code = NOT_FINISHED


class CannotRun(ValueError):
    """The run is impossible; the message names the fault and what is allowed."""


_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
RATE = click.FloatRange(0, 1)
NUMBER = click.IntRange(min=1)
EXISTING_OR_DASH = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


def moment(value: str) -> datetime:
    """A time, or how long ago."""
    if found := re.fullmatch(r"(\d{1,5})([mhd])", value):
        return datetime.now(UTC) - int(found[1]) * timedelta(minutes={"m": 1, "h": 60, "d": 24 * 60}[found[2]])
    try:
        found_at = datetime.fromisoformat(value)
    except ValueError:
        allowed = "minutes, hours and days ago, such as 90m, 24h and 7d, or a time in UTC, such as 2026-11-20T08:00"
        raise click.BadParameter(f"{value!r} is not a time; allowed are {allowed}") from None
    return found_at.replace(tzinfo=found_at.tzinfo or UTC)


config_option: _Decorator = click.option(
    "--config",
    "config_file",
    type=EXISTING,
    help="Configuration file. Default: assay.toml in the current folder, if there is one.",
)


def configured(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that people read `--config`, and the configuration as `loaded`; only errors are logged."""

    @config_option
    @wraps(command)
    def run(*, config_file: Path | None, **options: Any) -> Any:
        from streams.logs import configure_logs

        loaded = configuration(config_file)
        configure_logs("error")
        logging.captureWarnings(True)
        # The command reports a broker that is down in one line.
        logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
        return command(loaded=loaded, **options)

    return run


def selection(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command about verdicts: `source`, `model`, `checker`, `since` and `until`."""
    for name in ("checker", "model", "source"):
        command = click.option(f"--{name}", metavar=name[0].upper(), help=f"Only this {name}.")(command)
    since = click.option(
        "--since", type=moment, metavar="T", help="Only since 90m, 24h or 7d ago, or 2026-11-20T08:00."
    )
    return since(click.option("--until", type=moment, metavar="T", help="Only before, likewise.")(command))


def out_option(what: str) -> _Decorator:
    """The option `--out` of a command that writes this."""
    path = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
    return click.option("--out", type=path, help=f"File for the {what}. Default: standard output.")


def configuration(config_file: Path | None) -> Configuration:
    """The configuration for the running command; `config_file` is the option after its name. Raises Misconfigured."""
    loaded = load_configuration(config_file or click.get_current_context().find_root().params.get("config_file"))
    for warning in loaded.warnings:
        click.secho(f"warning: {warning}", err=True, fg="yellow")
    return loaded


async def stopped() -> None:
    """Return on Ctrl-C or SIGTERM."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()


def download_models(configured: Configuration) -> None:
    """Download the models of the judge that are missing on this machine, with a bar; raises ModelUnusable."""
    from models.build import fetch_models

    fetch_models(configured.judge, lambda message: click.echo(message, err=True))


@asynccontextmanager
async def models_of(configured: Configuration) -> AsyncIterator[Models]:
    """Judge and subjects for as long as the context lasts; missing models are downloaded first."""
    from assay.wiring import wired

    download_models(configured)
    async with wired(configured, []) as service:
        yield service.models


@contextmanager
def run_errors(*, resumable: bool = False) -> Iterator[None]:
    """Turn any error of a run into a message and the exit status; every command runs within it.

    A `resumable` run keeps its results when a model is lost.
    """
    try:
        yield
    except Misconfigured as error:
        indented = str(error).replace("\n", "\n  ")
        raise WrongUse(f"the configuration is wrong:\n  {indented}") from None
    except (CannotRun, ExtraMissing, ModelRefuses, UnknownChecker) as error:
        raise WrongUse(str(error)) from None
    except ModelLost as error:
        kept = "; results so far are kept, the same command continues" if resumable else ""
        raise NotFinished(f"{error}{kept}") from None
    except ModelUnavailable as error:
        raise NotFinished(f"a model cannot be reached: {error.detail}") from None
    except (ModelFailed, ModelUnusable, StreamError) as error:
        raise NotFinished(str(error)) from None
    except BrokenPipeError:
        # Nobody reads the output any more.
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise NotFinished(f"{where}reading or writing failed: {error.strerror or first_line(error)}") from None


def print_report(summary: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print the results of a run, as JSON or for a person."""
    for line in [orjson.dumps(summary, option=orjson.OPT_INDENT_2).decode()] if as_json else lines:
        click.echo(line)


def reading(file: Path) -> BinaryIO:
    """The bytes of `file`; - is standard input. Raises WrongUse if it cannot be opened."""
    return _opened(file, "rb", "read")


def writing(file: Path | None, *, source: Path | None = None) -> BinaryIO:
    """The stream to write to, for a `with` statement: `file`, or standard output if it is None or -.

    Raises WrongUse if it cannot be opened, or is `source`, which would be lost.
    """
    if file is not None and source is not None and file.exists() and source.exists() and file.samefile(source):
        raise WrongUse(f"{file} is the input; writing to it would lose it")
    return _opened(file or Path("-"), "wb", "written")


def _opened(file: Path, mode: str, done: str) -> BinaryIO:
    try:
        return cast("BinaryIO", click.open_file(str(file), mode))
    except OSError as error:
        raise WrongUse(f"{file} cannot be {done}: {error.strerror}") from None


def size_of(source: BinaryIO) -> int | None:
    """Bytes of a file; None if it is not a regular one."""
    status = os.fstat(source.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class Progress:
    """Shows the progress of a run: a bar on a terminal, else only lines."""

    def __init__(self, bar: "Bar | None", total: int | None) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=total) if bar else None
        self._steps = 0

    def step(self) -> None:
        """Show that one more answer is there."""
        self._steps += 1
        self.at(self._steps, f"{self._steps} answers")

    def say(self, message: str) -> None:
        """Print a line."""
        if self._bar is None:
            click.echo(message, err=True)
        else:
            from rich.text import Text

            self._bar.console.print(Text.from_ansi(message))

    def at(self, done: int, note: str) -> None:
        """Show how much of the total is done."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, description=note)


@contextmanager
def progress(total: int | None, *, bar: bool | None = None) -> Iterator[Progress]:
    """A bar of `total` steps on a terminal, or if `bar`; `total` is None if the end is not known."""
    if not (sys.stderr.isatty() if bar is None else bar):
        yield Progress(None, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as shown:
        yield Progress(shown, total)
