"""Budgets: limits of what a checker or improver spends in a day, over all workers and over restarts.

A budget is overshot by what is under way when it is reached, and by what the other workers spend in the second or two
until they hear of it.
"""

import asyncio
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, Gauge

from agents.runtime import Runtime
from agents.spending.counter import DailySpend, Spent
from agents.spending.exchange import READ_SECONDS, Exchange
from agents.spending.settings import BudgetSettings
from models.billing import billed
from schemas import Usage
from streams.intake_gate import Hold
from streams.settings import TopicSettings

_Unit: TypeAlias = Literal["calls", "tokens", "cost"]
_UNITS: tuple[_Unit, ...] = ("calls", "tokens", "cost")

_PATIENCE_SECONDS = 2.0
"""A day's notes are read in well below a second. A record that waited longer in its handler would hold up a stop; it is
held instead, which also shows as paused intake."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SpendingMetrics:
    """Limits and spending by budget and unit (`calls`, `tokens`, `cost`)."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, registry=registry)
        self._limit = gauge("assay_budget_limit", "What a budget may spend in a day (UTC)", ["name", "unit"])
        self._spent = gauge(
            "assay_budget_spent", "What all workers have spent of a budget today (UTC)", ["name", "unit"]
        )
        self._read = gauge(
            "assay_budget_read_timestamp_seconds", "Unix time when this worker last knew the spending of all workers"
        )

    def watch(self, name: str, limits: Mapping[str, float], spent: Mapping[str, Callable[[], float]]) -> None:
        for unit, limit in limits.items():
            self._limit.labels(name, unit).set(limit)
        for unit, amount in spent.items():
            self._spent.labels(name, unit).set_function(amount)

    def read(self) -> None:
        """Note that the spending topic has been read to its end."""
        self._read.set_to_current_time()


class Budgets:
    """What may still be spent; one for all agents of a worker, which starts and stops it.

    Without any budget it does nothing, and listens to nothing.
    """

    name = "spending"

    def __init__(
        self, budgets: Mapping[str, BudgetSettings] | None = None, *, now: Callable[[], datetime] = _utc_now
    ) -> None:
        """`budgets` by name of checker or improver; `now` returns the time in UTC."""
        self._budgets = dict(budgets or {})
        self._now = now
        self._latest = date.min
        self._spend = DailySpend(self._budgets, uuid.uuid4().hex)
        self._exchange: Exchange | None = None

    def topics(self, topics: TopicSettings) -> Collection[str]:
        return (topics.spending,) if self._budgets else ()

    async def start(self, runtime: Runtime) -> None:
        """Begin to read the spending of all workers and to publish this worker's; returns at once."""
        if not self._budgets:
            return
        metrics = SpendingMetrics(runtime.metrics.registry)
        for name, budget in self._budgets.items():
            metrics.watch(name, _limits(budget), {unit: self._amount(name, unit) for unit in _UNITS})
        self._exchange = Exchange(self._spend, runtime, today=self._today, on_read=metrics.read)
        self._exchange.start()

    async def stop(self) -> None:
        """Publish the last spending and stop reading."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await exchange.stop()

    async def ready(self) -> str | None:
        if not self._budgets or (self._exchange is not None and self._exchange.known.is_set()):
            return None
        trouble = self._exchange.trouble if self._exchange is not None else None
        return "what was spent today is not read yet" + (f" ({trouble})" if trouble else "")

    async def spent_up(self, name: str) -> str | None:
        """Which limit of `name` is reached, how much is spent and when it starts anew; None while it may spend.

        Raises:
            Hold: it is not known yet what was spent before the start.
        """
        budget = self._budgets.get(name)
        if budget is None:
            return None
        await self._first_reading()
        today = self._today()
        spent = self._spend.total(today, name)
        for unit, limit in _limits(budget).items():
            amount = getattr(spent, unit)
            if amount >= limit:
                anew = datetime.combine(today + timedelta(days=1), time(), tzinfo=UTC)
                return (
                    f"the day's budget is spent: {_shown(amount)} of {_shown(limit)} {unit} "
                    f"(budgets.{name}.{unit}); it starts anew at {anew:%Y-%m-%dT%H:%MZ}"
                )
        return None

    @contextmanager
    def booked(self, name: str) -> Iterator[None]:
        """Add to the spending of `name` what is asked within the context, also if that ends with an exception."""
        with billed() as bill:
            try:
                yield
            finally:
                self.book(name, bill.usage)

    def book(self, name: str, usage: Usage) -> None:
        """Add a cost to the spending of `name`."""
        if name in self._budgets:
            self._spend.add(self._today(), name, Spent.of(usage))

    def _amount(self, name: str, unit: _Unit) -> Callable[[], float]:
        return lambda: float(getattr(self._spend.total(self._today(), name), unit))

    def _today(self) -> date:
        # A clock that is set back over midnight must not open the budget of a day whose spend is forgotten.
        self._latest = max(self._latest, self._now().date())
        return self._latest

    async def _first_reading(self) -> None:
        exchange = self._exchange
        if exchange is None:
            raise Hold(READ_SECONDS)
        if exchange.known.is_set():
            return
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await exchange.known.wait()
        except TimeoutError:
            raise Hold(READ_SECONDS) from None


def _limits(budget: BudgetSettings) -> dict[str, float]:
    return {unit: limit for unit in _UNITS if (limit := getattr(budget, unit)) is not None}


def _shown(amount: float) -> str:
    return f"{round(amount, 6):,}"
