"""What the command line offers to a method's commands: configuration, models, progress, and ways to end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import click
from pydantic import BaseModel

from checkers.checker import Models
from checkers.oracle.protocol import OracleFailed, OracleUnavailable
from checkers.oracle.settings import JudgeSettings, SubjectSettings
from checkers.patience import ModelLost
from checkers.wording import first_line

WRONG_USE = 2
NOT_FINISHED = 3


class WrongUse(click.ClickException):
    """Wrong usage or configuration."""

    exit_code = WRONG_USE


class NotFinished(click.ClickException):
    """The command was right, and could not be carried out to its end."""

    exit_code = NOT_FINISHED


class CannotRun(ValueError):
    """The run that is asked for is impossible; the message says what is wrong and what is allowed."""


class Configured(Protocol):
    """The part of the configuration that a method's command may need."""

    @property
    def judge(self) -> JudgeSettings: ...

    @property
    def subjects(self) -> Mapping[str, SubjectSettings]: ...

    @property
    def checkers(self) -> Mapping[str, BaseModel]:
        """Each installed checker's settings, by its name."""

    @property
    def max_record_bytes(self) -> int: ...


class Progress(Protocol):
    """Tells the person who waits how far a run is, on standard error."""

    def say(self, message: str) -> None:
        """Print a line."""

    def at(self, done: int, note: str) -> None:
        """So much of the total is done."""


class Figures(Protocol):
    """What a run found."""

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""

    def lines(self) -> Iterable[str]:
        """The figures for a person."""


class FrontDoor(Protocol):
    """The `obj` of click's context."""

    def configuration(self, file: Path | None) -> Configured:
        """The configuration in force, `file` being the command's own `--config`; warnings are printed.

        Raises:
            WrongUse: with a line for every fault.
        """

    def models(self, configured: Any) -> AbstractAsyncContextManager[Models]:
        """Judge and subjects for as long as the context lasts.

        Raises:
            Misconfigured: a model cannot be built; `errors` turns that into a message.
        """

    def progress(self, total: int | None) -> AbstractContextManager[Progress]:
        """A bar on a terminal, messages anywhere; `total` is None if the end is not known."""

    def errors(self) -> AbstractContextManager[None]:
        """Turn what is raised for a user's mistake or a missing service into a message and the exit status."""

    def quiet_logs(self) -> None:
        """Log only errors, on standard error: the command answers a person."""


config_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Configuration file. Default: assay.toml in the current folder, if there is one.",
)


def front_door() -> FrontDoor:
    """The front door of the command that is running."""
    door: FrontDoor = click.get_current_context().find_root().obj
    return door


@contextmanager
def run_errors(*mistakes: type[Exception], resumable: bool = False) -> Iterator[None]:
    """Turn whatever ends a run into a message and the exit status, as `FrontDoor.errors` does and more.

    `mistakes` are the user's, beside `CannotRun`. A `resumable` run keeps what is done when a model is lost.
    """
    wrong: tuple[type[Exception], ...] = (CannotRun, *mistakes)
    with front_door().errors():
        try:
            yield
        except wrong as error:
            raise WrongUse(str(error)) from None
        except ModelLost as error:
            kept = "; what is done is kept, the same command goes on from there" if resumable else ""
            raise NotFinished(f"{error}{kept}") from None
        except OracleUnavailable as error:
            raise NotFinished(f"a model cannot be reached: {error.detail}") from None
        except OracleFailed as error:
            raise NotFinished(error.detail) from None
        except BrokenPipeError:
            # The reader of what we print has gone: nobody is left to be told.
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise NotFinished(f"{where}reading or writing failed: {error.strerror or first_line(error)}") from None


def print_figures(figures: Figures, *, as_json: bool) -> None:
    """Print what a run found, as JSON or for a person."""
    if as_json:
        import orjson

        click.echo(orjson.dumps(figures.summary(), option=orjson.OPT_INDENT_2).decode())
        return
    for line in figures.lines():
        click.echo(line)
