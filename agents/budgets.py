"""Budgets: limits of what a checker, the improver or a source may spend in a worker and a day."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Annotated, Self

from prometheus_client import CollectorRegistry, Gauge
from pydantic import Field, model_validator

from models.work import Work
from streams.settings import SettingsSection

_UNITS = {"calls": "Calls", "cost": "Cost"}


class BudgetSettings(SettingsSection):
    """Limits of what a checker, `improver` or source of records spends in each worker and day (UTC); then it stops."""

    calls: Annotated[int, Field(gt=0)] | None = None
    """Calls of a model's endpoint."""
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Cost in the currency of `judge.prompt_price` and `judge.completion_price`."""

    @property
    def limits(self) -> dict[str, float]:
        """The limits that are set, by unit."""
        return self.model_dump(exclude_none=True)

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if not self.limits:
            raise ValueError("limits nothing; give calls or cost")
        return self


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Budgets:
    """The day's spending of this worker, by the name of a budget; one for all of its agents.

    A budget is overshot by what is under way when it is reached. A restart resets a budget.
    """

    def __init__(
        self,
        budgets: Mapping[str, BudgetSettings] | None = None,
        *,
        registry: CollectorRegistry | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        """`budgets` by name of checker, improver or source, with metrics in `registry`; `now` is the time in UTC."""
        self._budgets = dict(budgets or {})
        self._now = now
        self._day = date.min
        self._spent: dict[str, dict[str, float]] = {}
        if self._budgets and registry is not None:
            BudgetMetrics(registry).watch(self._budgets, lambda name, unit: self._today(name)[unit])

    def exhausted(self, name: str) -> str | None:
        """The limit of `name` that is reached, with what is spent and when it is reset; None while it may spend."""
        if (budget := self._budgets.get(name)) is None:
            return None
        spent = self._today(name)
        for unit, limit in budget.limits.items():
            if spent[unit] >= limit:
                reset = datetime.combine(self._day + timedelta(days=1), time(), tzinfo=UTC)
                return (
                    f"the day's budget is spent: {_shown(spent[unit])} of {_shown(limit)} {unit} "
                    f"(budgets.{name}.{unit}); it is reset at {reset:%Y-%m-%dT%H:%MZ}"
                )
        return None

    @contextmanager
    def booked(self, name: str) -> Iterator[None]:
        """Add to the spending of `name` what is asked within the context, also if that ends with an exception."""
        if name not in self._budgets:
            yield
            return
        with Work() as bill:
            try:
                yield
            finally:
                usage, spent = bill.usage, self._today(name)
                spent["calls"] += usage.calls
                spent["cost"] += usage.cost

    def _today(self, name: str) -> dict[str, float]:
        # A clock that is set back over midnight must not open the budget of a day whose spending is forgotten.
        if (today := self._now().date()) > self._day:
            self._day = today
            self._spent.clear()
        return self._spent.setdefault(name, {"calls": 0, "cost": 0.0})


class BudgetMetrics:
    """Limits and spending by budget, each unit by itself."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, labelnames=["name"], registry=registry)
        self.limit = {
            unit: gauge(f"assay_budget_limit_{unit}", f"{what} that a budget may spend in this worker and day (UTC)")
            for unit, what in _UNITS.items()
        }
        self.spent = {
            unit: gauge(f"assay_budget_spent_{unit}", f"{what} that this worker has spent of a budget today (UTC)")
            for unit, what in _UNITS.items()
        }

    def watch(self, budgets: Mapping[str, BudgetSettings], spent: Callable[[str, str], float]) -> None:
        """Show the limits, and what is spent of a budget in a unit."""
        for name, budget in budgets.items():
            for unit, limit in budget.limits.items():
                self.limit[unit].labels(name).set(limit)
            for unit, gauge in self.spent.items():
                gauge.labels(name).set_function(partial(spent, name, unit))


def _shown(amount: float) -> str:
    return f"{round(amount, 6):,}"
