"""What a user gives for a criterion: a section `[criteria.NAME]` of the configuration, and labelled examples."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import Field, field_validator, model_validator

from checkers.checker import OPERATIONAL
from checkers.thresholds import ScoringSettings
from schemas import Generation
from schemas.base import Name, Text

_MOST_SHOWN = 4
"""Of each label. More cost more than they bring."""
_MOST_CHARACTERS = 2000
"""Of an example that is shown, as JSON: each question costs its tokens."""

_Pattern = Annotated[str, Field(min_length=1, max_length=256)]
Reply: TypeAlias = Literal["yes", "no"]
Label: TypeAlias = Literal["accept", "reject"]


class CriterionSettings(ScoringSettings):
    """A criterion of yours, and a checker with this name: a yes-or-no question about each response."""

    ask: Annotated[str, Field(max_length=1000)]
    """The question, on one line, about what it calls the answer; the question that the user asked and the passages are
    shown with it, if the record has them."""
    reject_if: Reply
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


class Example(Generation):
    """A record, and what its writer says of it."""

    kind: Literal["generation"] = "generation"
    source: Name = "examples"
    model: Name = "examples"
    label: Label
    words: Text | None = None
    """The words at fault, which stand in the response."""

    @model_validator(mode="after")
    def _quoted(self) -> Self:
        if self.words is not None and (self.words not in self.response or not self.words.strip()):
            raise ValueError("the words do not stand in the response")
        return self


def shown_of(examples: Sequence[Example], but: Generation | None = None) -> tuple[Example, ...]:
    """The first ones of each label in turns, without those that are too long, and without `but`."""
    short = [one for one in examples if one is not but and len(one.model_dump_json()) <= _MOST_CHARACTERS]
    sides = ([one for one in short if one.label == label][:_MOST_SHOWN] for label in get_args(Label))
    # As many of each: a judge leans to what it has seen more often.
    return tuple(chain.from_iterable(zip(*sides, strict=False)))
