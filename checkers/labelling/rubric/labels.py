"""Aggregators (paper, section 5): from the bits of a rubric to the bit of the label, as a rubric file says them.

The verifier never uses one; it is what an evaluator claims to know.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, model_validator

from checkers.labelling.rubric.faults import Misplaced, RubricPart, Unfit
from checkers.labelling.rubric.fields import Number, number
from checkers.labelling.values import same_label
from schemas.evidence import Label

_MAX_LABEL = 200
_MAX_WEIGHT = 1e9

_BESIDE: dict[str, set[str]] = {"majority": {"ties"}, "weights": {"weights", "threshold"}}


def _label(value: Any) -> Label:
    if isinstance(value, int) or (isinstance(value, str) and 0 < len(value.strip()) <= _MAX_LABEL):
        return value
    raise Unfit(f"should be a text of 1 to {_MAX_LABEL} characters, a whole number, true or false")


def _weight(value: Any) -> int | float:
    if not 0 < abs(number(value)) <= _MAX_WEIGHT:
        raise Unfit(f"should be a number other than 0, up to {_MAX_WEIGHT:g}")
    return number(value)


def _bit(value: Any) -> int:
    if isinstance(value, bool) or value not in (0, 1):
        raise Unfit("should be 0 or 1")
    return int(value)


class LabelValues(RubricPart):
    """The labels that an aggregated bit of 0 and of 1 stand for."""

    zero: Annotated[Label, PlainValidator(_label)] = Field(alias="0")
    one: Annotated[Label, PlainValidator(_label)] = Field(alias="1")

    @model_validator(mode="after")
    def _differ(self) -> "LabelValues":
        if same_label(self.zero, self.one):
            raise Misplaced("both labels are the same; 0 and 1 must stand for different ones", "1", at_key=False)
        return self


class Aggregator(RubricPart):
    """A function from as many bits as the rubric has criteria, in their order, to one bit."""

    by: Literal["majority", "any", "all", "weights"]
    ties: Annotated[int, PlainValidator(_bit)] = 1
    """The bit of a tie, for `majority`."""
    weights: dict[str, Annotated[int | float, PlainValidator(_weight)]] = Field(default_factory=dict)
    """For `weights`, by the criteria's names in their order."""
    threshold: Number = 0
    """The bit is 1 from this sum of weights on."""
    values: LabelValues = LabelValues.model_validate({"0": 0, "1": 1})

    @model_validator(mode="after")
    def _goes_together(self) -> "Aggregator":
        allowed = _BESIDE.get(self.by, set())
        for key in sorted(self.model_fields_set - {"by", "values"} - allowed):
            raise Misplaced(f"{key!r} does not go with 'by: {self.by}'", key)
        if self.by == "weights":
            if not allowed <= self.model_fields_set:
                told = "'by: weights' needs 'weights', a number for each criterion, and 'threshold'"
                raise Misplaced(told, at_key=False)
            most = math.fsum(weight for weight in self.weights.values() if weight > 0)
            least = math.fsum(weight for weight in self.weights.values() if weight < 0)
            if self.weights and not least < self.threshold <= most:
                always = int(self.threshold <= least)
                told = f"with the threshold {self.threshold} every aggregated bit would be {always}"
                raise Misplaced(f"{told}; allowed is above {least:g} and up to {most:g}", "threshold", at_key=False)
        return self

    @property
    def description(self) -> str:
        """A sentence that says all of it: for people, for an evaluator's prompt, and part of a rubric's version."""
        if self.by == "majority":
            return f"Majority vote: 1 if more criteria hold than do not, 0 if fewer do, {self.ties} in a tie."
        if self.by != "weights":
            return f"1 if {'at least one' if self.by == 'any' else 'every'} criterion holds, else 0."
        weights = ", ".join(map(str, self.weights.values()))
        return (
            f"The criteria have the weights {weights}, in this order: 1 if the weights of those that hold add up to "
            f"{self.threshold} or more, else 0."
        )

    def __call__(self, bits: Sequence[int]) -> int:
        """0 or 1."""
        if self.by == "majority":
            lead = 2 * sum(bits) - len(bits)
            return self.ties if lead == 0 else int(lead > 0)
        if self.by == "weights":
            held = (weight for weight, bit in zip(self.weights.values(), bits, strict=True) if bit)
            return int(sum(held) >= self.threshold)
        return int(any(bits) if self.by == "any" else all(bits))
