"""How a command ends that could not do what it was asked: one line on standard error and an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

REJECTED = 1
WRONG_USE = 2
NOT_FINISHED = 3
INTERRUPTED = 130
"""As shells count a program that Ctrl-C ended."""


class WrongUse(click.ClickException):
    """Wrong usage or configuration."""

    exit_code = WRONG_USE


class NotFinished(click.ClickException):
    """The command was right, and could not be carried out to its end."""

    exit_code = NOT_FINISHED


@contextmanager
def told() -> Iterator[None]:
    """Turn what is raised for a user's mistake or a missing broker into a message and the exit status."""
    from assay.config import Misconfigured
    from streams.errors import ExtraMissing, StreamError

    try:
        yield
    except Misconfigured as error:
        indented = str(error).replace("\n", "\n  ")
        raise WrongUse(f"the configuration is wrong:\n  {indented}") from None
    except ExtraMissing as error:
        raise WrongUse(str(error)) from None
    except StreamError as error:
        raise NotFinished(str(error)) from None
