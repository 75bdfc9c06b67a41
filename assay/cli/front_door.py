"""What all commands share: reading the configuration, ways to end, and what commands of checkers are given."""

import shutil
import sys
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checkers.front_door import NotFinished, WrongUse

if TYPE_CHECKING:
    from assay.config import Configuration
    from checkers.checker import Models
    from checkers.front_door import Progress
    from checkers.plugin import CheckerPlugin

REJECTED = 1
INTERRUPTED = 130
"""As shells count a program that Ctrl-C ended."""


@contextmanager
def told() -> Iterator[None]:
    """Turn what is raised for a user's mistake or a missing broker into a message and the exit status."""
    from assay.config import Misconfigured
    from checkers.patience import ModelRefuses
    from streams.errors import ExtraMissing, StreamError

    try:
        yield
    except Misconfigured as error:
        indented = str(error).replace("\n", "\n  ")
        raise WrongUse(f"the configuration is wrong:\n  {indented}") from None
    except (ExtraMissing, ModelRefuses) as error:
        raise WrongUse(str(error)) from None
    except StreamError as error:
        raise NotFinished(str(error)) from None


def typed() -> str:
    """What has to be typed to run assay again: a newcomer's shell may not find it by its name."""
    program = Path(sys.argv[0])
    if program.parts[-2:] == ("assay", "__main__.py"):
        python, here = Path(sys.executable), Path.cwd()
        return f"{python.relative_to(here) if python.is_relative_to(here) else python} -m assay"
    found = shutil.which("assay")
    if program.name != "assay" or (found is not None and program.exists() and program.samefile(found)):
        return "assay"
    return str(program)


def configuration(config_file: Path | None) -> "Configuration":
    """The configuration for the command that is running; `config_file` is the one given after its name.

    Raises:
        WrongUse: with a line for every fault.
    """
    with told():
        from assay.config import load_configuration

        loaded = load_configuration(config_file or click.get_current_context().find_root().params.get("config_file"))
    for warning in loaded.warnings:
        click.secho(f"warning: {warning}", err=True, fg="yellow")
    return loaded


def selected(loaded: "Configuration", names: Collection[str]) -> "list[CheckerPlugin]":
    """The checkers with these names; all that are installed if there are no names.

    Raises:
        WrongUse: there is no such checker, or none at all.
    """
    from assay.plugins import UnknownChecker

    try:
        plugins = loaded.installed.select(names)
    except UnknownChecker as error:
        raise WrongUse(str(error)) from None
    if not plugins:
        raise WrongUse("no checker is installed")
    return plugins


def quiet_logs() -> None:
    """Log only errors, on standard error: the command answers a person, whom libraries' warnings do not concern."""
    import logging

    from streams.logs import configure_logs

    configure_logs("error")
    logging.captureWarnings(True)
    # What it says about a broker that is away, the command says in one line.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


def tell_of_broker(event: str, *, servers: str, since: str) -> None:
    """Say on standard error that no broker answers a command that follows a topic, or that one does again."""
    click.secho(f"{event} at {servers}, away since {since}", err=True, fg="yellow")


def download_models(configured: "Configuration") -> None:
    """Download what the judge needs, if this machine does not keep it, with a bar.

    Raises:
        NotFinished: it cannot be downloaded.
    """
    from checkers.oracle.build import fetch_models
    from checkers.oracle.model_loading import ModelUnusable

    try:
        fetch_models(configured.judge, lambda message: click.echo(message, err=True))
    except ModelUnusable as error:
        raise NotFinished(str(error)) from None


class CommandLine:
    """See `checkers.front_door.FrontDoor`."""

    configuration = staticmethod(configuration)
    errors = staticmethod(told)
    quiet_logs = staticmethod(quiet_logs)

    @asynccontextmanager
    async def models(self, configured: "Configuration") -> "AsyncIterator[Models]":
        from assay.wiring import wired

        download_models(configured)
        async with wired(configured, []) as service:
            yield service.models

    def progress(self, total: int | None) -> "AbstractContextManager[Progress]":
        from assay.progress import progress

        return progress(bar=sys.stderr.isatty(), total=total)
