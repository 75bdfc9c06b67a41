"""How a command ends that could not do what it was asked: one line on standard error and an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager

from checkers.front_door import NOT_FINISHED, WRONG_USE, NotFinished, WrongUse

__all__ = ["INTERRUPTED", "NOT_FINISHED", "REJECTED", "WRONG_USE", "NotFinished", "WrongUse", "told"]

REJECTED = 1
INTERRUPTED = 130
"""As shells count a program that Ctrl-C ended."""


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
