"""The checker: what every method is to the rest of the service, and how third parties add one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from checkers.oracle.protocol import Oracle
from schemas import Envelope, Verdict

ENTRY_POINT_GROUP = "assay.checkers"
"""Installed packages add a checker by an entry point of this group that names a `CheckerPlugin`."""


class Checker(Protocol):
    """A method that decides about records of some kinds."""

    @property
    def name(self) -> str:
        """Short and stable: the consumer group, the metrics' label and the command line's word for it."""

    @property
    def version(self) -> str:
        """Changes whenever the same record could get another verdict from the same configuration."""

    @property
    def kinds(self) -> frozenset[str]:
        """The record kinds it takes."""

    @property
    def config_digest(self) -> str:
        """Digest of all settings that bear on a verdict: part of the verdict's id."""

    async def check(self, record: Envelope) -> Verdict:
        """Decide; a verdict that abstains where it cannot.

        Raises:
            OracleUnavailable: the judge's endpoint is down: the record is to be held, not judged.
        """


@runtime_checkable
class Closeable(Protocol):
    """A checker that holds what must be given back: connections, threads."""

    async def close(self) -> None:
        """Give it back; the checker is not used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models that checkers may ask."""

    judge: Oracle
    subjects: Mapping[str, Oracle]
    """By the name that records carry as their `model`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerPlugin:
    """How the front door finds, configures and builds a checker."""

    name: str
    kinds: frozenset[str]
    settings: type[BaseModel]
    """The checker's section of the configuration, under its name."""
    build: Callable[[Any, Models], Checker]
    """From an instance of `settings` and the models to the checker; must be quick and import nothing heavy."""
