"""Which records are checked: the rules and samples of `routing`, and the `budgets` of a worker and a day."""

import fnmatch
import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property, lru_cache, partial
from typing import Annotated, Literal, NamedTuple, Self

import orjson
from prometheus_client import CollectorRegistry, Gauge
from pydantic import Field, field_validator, model_validator

from models.work import Work
from schemas import RECORD_KINDS, Envelope
from schemas.base import is_name
from streams.settings import SettingsSection

_REMEMBERED = 4096  # Combinations of checker, source, model and tenant whose share is known: 4 MB at the very most.

_Pattern = Annotated[str, Field(min_length=1, max_length=256)]
_Patterns = Annotated[tuple[_Pattern, ...], Field(min_length=1)]


class RoutingRule(SettingsSection):
    """The share of matching records that is checked; all set conditions must hold."""

    checkers: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Names of checkers."""
    sources: _Patterns | None = None
    """Shell-style patterns for the record's `source`."""
    models: _Patterns | None = None
    """Patterns for its `model`."""
    tenants: _Patterns | None = None
    """Patterns for its `tenant`."""
    share: float = Field(default=1.0, ge=0, le=1)
    """Sampling rate, from 0 (none) to 1 (all)."""

    def matches(self, checker: str, source: str, model: str, tenant: str | None) -> bool:
        # Compiled patterns never go back into a `*`, so that no name of a producer is slow to match.
        named = (source, self.sources), (model, self.models), (tenant, self.tenants)
        return (self.checkers is None or checker in self.checkers) and all(
            patterns is None or (name is not None and any(fnmatch.fnmatchcase(name, each) for each in patterns))
            for name, patterns in named
        )


class RoutingSettings(SettingsSection):
    """Which records are checked by which checkers: the first rule that matches decides. Others are checked."""

    checkers: tuple[str, ...] = ()
    """Names of all checkers that run, if workers run different ones. The first by name answers for records that no
    checker accepts (running.md)."""

    rules: tuple[RoutingRule, ...] = ()
    """The rules, in the order in which they are tried."""

    @field_validator("rules")
    @classmethod
    def _reached(cls, rules: tuple[RoutingRule, ...]) -> tuple[RoutingRule, ...]:
        for number, rule in enumerate(rules[:-1]):
            if all(each is None for each in (rule.checkers, rule.sources, rule.models, rule.tenants)):
                raise ValueError(
                    f"rule {number} (from 0) has no condition, so those after it are never asked; put it last"
                )
        return rules

    def unknown_checkers(self, installed: Collection[str]) -> list[str]:
        """Checkers named here that are not in `installed`, each once, in order."""
        named = dict.fromkeys([*self.checkers, *(name for rule in self.rules for name in rule.checkers or ())])
        return [name for name in named if name not in installed]

    @cached_property
    def share(self) -> Callable[[str, str, str, str | None], float]:
        """The share of a source's, model's and tenant's records that a checker takes."""

        @lru_cache(_REMEMBERED)
        def first_that_matches(checker: str, source: str, model: str, tenant: str | None) -> float:
            return next((rule.share for rule in self.rules if rule.matches(checker, source, model, tenant)), 1.0)

        return first_that_matches

    def left_out(self, checker: str, record: "Envelope | Head") -> Literal["route", "sample"] | None:
        """The reason why `checker` skips a record: a rule with share 0, or the draw; None if it checks it."""
        if not self.rules or (share := self.share(checker, record.source, record.model, record.tenant)) >= 1:
            return None
        if share <= 0:
            return "route"
        return None if sample_point(record.source, record.id) < share else "sample"


class Head(NamedTuple):
    """The part of a record that decides whether it is checked."""

    kind: str
    source: str
    model: str
    tenant: str | None
    id: str


def read_head(value: bytes | None, max_bytes: int) -> Head | None:
    """None if it cannot be read, or is not whole: without an id a record is drawn by all that is in it."""
    if value is None or len(value) > max_bytes:
        return None
    try:
        document = orjson.loads(value)
        kind, source, model, id_ = document["kind"], document["source"], document["model"], document["id"]
        head = Head(kind, source, model, document.get("tenant"), id_)
        names = (head.source, head.model) if head.tenant is None else (head.source, head.model, head.tenant)
        whole = head.kind in RECORD_KINDS and is_name(head.id) and all(map(_is_name, names))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return head if whole else None


_is_name = lru_cache(4096)(is_name)  # For names that are few and the same all the time.


def sample_point(source: str, record_id: str) -> float:
    """A record's point in [0, 1), the first 53 bits of a SHA-256; every share above takes it.

    So a rerun, another worker and another checker take the same records, and those of a smaller share are among those
    of a larger one.
    """
    # Names hold no control character, so no two records are joined to the same text.
    drawn = hashlib.sha256(f"{source}\x1f{record_id}".encode()).digest()
    return (int.from_bytes(drawn[:8], "big") >> 11) / 2.0**53


class BudgetSettings(SettingsSection):
    """Limits of what a checker, `improver` or source of records spends in each worker and day (UTC); then it stops."""

    calls: Annotated[int, Field(gt=0)] | None = None
    """Calls of a model's endpoint."""
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Cost in the currency of `judge.prices`."""

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.calls is None and self.cost is None:
            raise ValueError("limits nothing; give calls or cost")
        return self


class Budgets:
    """The day's spending of this worker, by the name of a budget; one for all of its agents."""

    def __init__(
        self,
        budgets: Mapping[str, BudgetSettings] | None = None,
        *,
        registry: CollectorRegistry | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`budgets` by name of checker, improver or source, with metrics in `registry`; `now` is the time in UTC."""
        self._limits = {name: one.model_dump(exclude_none=True) for name, one in (budgets or {}).items()}
        self._now = now
        self._day = date.min
        self._spent: dict[str, dict[str, float]] = {}
        for unit, what in (("calls", "Calls"), ("cost", "Cost")) if self._limits and registry is not None else ():
            gauge = partial(Gauge, labelnames=["name"], registry=registry)
            limit = gauge(f"assay_budget_limit_{unit}", f"{what} that a budget may spend in this worker and day (UTC)")
            spent = gauge(f"assay_budget_spent_{unit}", f"{what} that this worker has spent of a budget today (UTC)")
            for name, limits in self._limits.items():
                if unit in limits:
                    limit.labels(name).set(limits[unit])
                spent.labels(name).set_function(partial(lambda name, unit: self._today(name)[unit], name, unit))

    def exhausted(self, name: str) -> str | None:
        """The limit of `name` that is reached, with what is spent and when it is reset; None while it may spend."""
        for unit, limit in self._limits.get(name, {}).items():
            if (spent := self._today(name)[unit]) >= limit:
                reset = datetime.combine(self._day + timedelta(days=1), time(), tzinfo=UTC)
                return (
                    f"the day's budget is spent: {round(spent, 6):,} of {round(limit, 6):,} {unit} "
                    f"(budgets.{name}.{unit}); it is reset at {reset:%Y-%m-%dT%H:%MZ}"
                )
        return None

    @contextmanager
    def booked(self, name: str) -> Iterator[None]:
        """Add to the spending of `name` what is asked within the context, also if that ends with an exception."""
        if name not in self._limits:
            yield
            return
        with Work() as bill:
            try:
                yield
            finally:
                spent = self._today(name)
                spent["calls"] += bill.usage.calls
                spent["cost"] += bill.usage.cost

    def _today(self, name: str) -> dict[str, float]:
        # A clock that is set back over midnight must not open the budget of a day whose spending is forgotten.
        if (today := self._now().date()) > self._day:
            self._day = today
            self._spent.clear()
        return self._spent.setdefault(name, {"calls": 0, "cost": 0.0})
