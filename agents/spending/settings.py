"""The `budgets` sections of the configuration, one by the name of each checker or improver."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class BudgetSettings(BaseModel):
    """What one of them may spend in a day (UTC), all workers together; the first limit that is reached ends it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: Annotated[int, Field(gt=0)] | None = None
    """Questions that reach a model's endpoint."""
    tokens: Annotated[int, Field(gt=0)] | None = None
    """Tokens read and written."""
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """In the currency of the configured prices."""

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.calls is None and self.tokens is None and self.cost is None:
            raise ValueError("limits nothing; give calls, tokens or cost")
        return self
