"""The `budgets` sections of the configuration, one by the name of each checker, improver or source."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from streams.settings import SettingsSection


class BudgetSettings(SettingsSection):
    """What a checker, `improver` or source of records may spend in a day (UTC) over all workers; then it stops."""

    calls: Annotated[int, Field(gt=0)] | None = None
    """Calls of a model's endpoint."""
    tokens: Annotated[int, Field(gt=0)] | None = None
    """Prompt and completion tokens together."""
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Cost in the currency of `judge.prompt_price` and `judge.completion_price`."""

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.calls is None and self.tokens is None and self.cost is None:
            raise ValueError("limits nothing; give calls, tokens or cost")
        return self
