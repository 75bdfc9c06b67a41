"""Routing and sampling: the rules that decide which checkers check which records.

Imports nothing of Kafka: the configuration reads its settings.
"""

import fnmatch
import hashlib
from collections.abc import Collection
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, field_validator

from schemas import Envelope
from streams.settings import SettingsSection

_REMEMBERED = 4096
"""Combinations of checker, source, model and tenant whose share is known without going through the rules. As
names are at most 256 characters, some 4 MB at the very most."""

_POINT_BITS = 53
_POINTS = 2.0**_POINT_BITS
"""As many as a float distinguishes: a point is then below 1, always."""

_Pattern = Annotated[str, Field(min_length=1, max_length=256)]
_Patterns = Annotated[tuple[_Pattern, ...], Field(min_length=1)]


class RoutingRule(SettingsSection):
    """The share of matching records that is checked. A record matches if all conditions that are set hold."""

    checkers: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Names of the checkers that the rule is about."""
    sources: _Patterns | None = None
    """Shell-style patterns (`*`, `?`, `[abc]`) for the whole `source` of a record, case-sensitive."""
    models: _Patterns | None = None
    """Patterns for the `model`, likewise."""
    tenants: _Patterns | None = None
    """Patterns for the `tenant`, likewise; a record without a tenant does not match."""
    share: float = Field(default=1.0, ge=0, le=1)
    """Share of the matching records that is checked, from 0 (none) to 1 (all)."""

    def matches(self, checker: str, source: str, model: str, tenant: str | None) -> bool:
        return (
            (self.checkers is None or checker in self.checkers)
            and _any_matches(source, self.sources)
            and _any_matches(model, self.models)
            and (self.tenants is None or (tenant is not None and _any_matches(tenant, self.tenants)))
        )

    @property
    def unconditional(self) -> bool:
        return all(each is None for each in (self.checkers, self.sources, self.models, self.tenants))


class RoutingSettings(SettingsSection):
    """Which records are checked by which checkers: the first rule that matches decides. Others are checked."""

    checkers: tuple[str, ...] = ()
    """Names of all checkers that run, if workers run different ones. The first by name answers for what none of them
    checks: it writes the dead letter of an unreadable message, and abstains on a record of a kind that none takes. If
    empty, each worker's first checker does, and every kind of an installed checker counts as taken."""

    rules: tuple[RoutingRule, ...] = ()
    """The rules, in the order in which they are tried."""

    @field_validator("rules")
    @classmethod
    def _reached(cls, rules: tuple[RoutingRule, ...]) -> tuple[RoutingRule, ...]:
        for number, rule in enumerate(rules[:-1]):
            if rule.unconditional:
                raise ValueError(
                    f"rule {number} (from 0) has no condition, so those after it are never asked; put it last"
                )
        return rules


def unknown_checkers(settings: RoutingSettings, installed: Collection[str]) -> list[str]:
    """Checkers named in the settings that are not in `installed`, each once, in order."""
    named = dict.fromkeys([*settings.checkers, *(name for rule in settings.rules for name in rule.checkers or ())])
    return [name for name in named if name not in installed]


def sample_point(source: str, record_id: str) -> float:
    """A record's point in [0, 1); every share above takes it.

    The first 53 bits of a SHA-256: a rerun, another worker and another checker take the same records, those of a
    smaller share are among those of a larger one, and a producer that numbers its records does not bias the draw.
    """
    # Names hold no control character, so no two records are joined to the same text.
    drawn = hashlib.sha256(f"{source}\x1f{record_id}".encode()).digest()
    return (int.from_bytes(drawn[:8], "big") >> (64 - _POINT_BITS)) / _POINTS


class Routing:
    """The rules, with a cache of what they decide."""

    def __init__(self, settings: RoutingSettings | None = None) -> None:
        """Without settings, every record is checked."""
        self._rules = settings.rules if settings is not None else ()
        self._share = lru_cache(_REMEMBERED)(self._first_that_matches)

    @property
    def takes_all(self) -> bool:
        """True if every checker takes every record of its kinds."""
        return not self._rules

    def share(self, checker: str, record: Envelope) -> float:
        """The share of records like `record` that `checker` takes."""
        if self.takes_all:
            return 1.0
        return self._share(checker, record.source, record.model, record.tenant)

    def left_out(self, checker: str, record: Envelope) -> Literal["route", "sample"] | None:
        """The reason why `checker` skips `record`: a rule with share 0, or the draw; None if it checks it."""
        return self.leaves_out(checker, record.source, record.model, record.tenant, record.id)

    def leaves_out(
        self, checker: str, source: str, model: str, tenant: str | None, record_id: str
    ) -> Literal["route", "sample"] | None:
        """The same of a record of which no more is known."""
        if self.takes_all:
            return None
        share: float = self._share(checker, source, model, tenant)
        if share >= 1:
            return None
        if share <= 0:
            return "route"
        return None if sample_point(source, record_id) < share else "sample"

    def _first_that_matches(self, checker: str, source: str, model: str, tenant: str | None) -> float:
        for rule in self._rules:
            if rule.matches(checker, source, model, tenant):
                return rule.share
        return 1.0


def _any_matches(name: str, patterns: tuple[str, ...] | None) -> bool:
    # Compiled patterns never go back into a `*`, so that no name of a producer is slow to match.
    return patterns is None or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
