"""A section `[criteria.NAME]` of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from checkers.checker import OPERATIONAL
from checkers.thresholds import ScoringSettings

_Pattern = Annotated[str, Field(min_length=1, max_length=256)]


class CriterionSettings(ScoringSettings):
    """A criterion of yours, and a checker with this name: a yes-or-no question about each response."""

    ask: Annotated[str, Field(max_length=1000)]
    """The question, on one line, about what it calls the answer; the question that the user asked and the passages are
    shown with it, if the record has them."""
    reject_if: Literal["yes", "no"]
    """The reply on which a response is rejected."""
    unit: Literal["record", "conversation"] = "record"
    """What is asked about: each record, or each conversation once, when its `session` is silent for
    `sessions.silent_minutes`. Its last 20 turns then stand in the place of the answer."""
    sources: Annotated[tuple[_Pattern, ...], OPERATIONAL] = ()
    """Shell-style patterns (`*`, `?`, `[abc]`) for the `source` of the records that are checked; all if empty."""
    examples: Annotated[Path | None, OPERATIONAL] = None
    """File of JSON lines: records with `label` (`accept` or `reject`) and, if rejected, `words`, the words at fault. Up
    to four of each label are shown to the judge as worked examples."""

    @field_validator("ask")
    @classmethod
    def _on_a_line(cls, value: str) -> str:
        if len(value.splitlines()) != 1 or not value.strip():
            raise ValueError("should be a question on one line")
        return value.strip()
