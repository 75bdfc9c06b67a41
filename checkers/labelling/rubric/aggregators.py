"""Aggregators (paper, section 5): from the bits of a rubric to the bit of the label, as a rubric file says them.

No challenge uses one; it is what an evaluator claims to know.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, PlainValidator, model_validator

from checkers.labelling.rubric.reading import RubricPart, not_among, tag, union_of
from checkers.labelling.rubric.value_tests import Number, number
from checkers.labelling.values import same_label
from schemas.evidence import Label


def _label(value: Any) -> Label:
    if isinstance(value, int) or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("should be a text, a whole number, true or false")


def _two_labels(values: dict[Literal["0", "1"], Label]) -> dict[Literal["0", "1"], Label]:
    if len(values) != 2:
        raise ValueError("two labels are needed, {0: LABEL, 1: LABEL}")
    if same_label(values["0"], values["1"]):
        raise ValueError("both labels are the same; 0 and 1 must stand for different ones")
    return values


_LabelValues = Annotated[dict[Literal["0", "1"], Annotated[Label, PlainValidator(_label)]], AfterValidator(_two_labels)]


_BITS: dict[Literal["0", "1"], Label] = {"0": 0, "1": 1}


class Aggregator(RubricPart):
    """A function from as many bits as the rubric has criteria, in their order, to one bit."""

    by: str
    values: _LabelValues = _BITS
    """The labels that the bits stand for."""

    @property
    @abstractmethod
    def description(self) -> str:
        """A sentence that says all of it: for people, for an evaluator's prompt, and part of a rubric's version."""

    @abstractmethod
    def __call__(self, bits: Sequence[int]) -> int:
        """0 or 1."""


class Majority(Aggregator):
    by: Literal["majority"]
    ties: Annotated[Literal[0, 1], BeforeValidator(number)] = 1
    """The bit of a tie."""

    @property
    def description(self) -> str:
        return f"Majority vote: 1 if more criteria hold than do not, 0 if fewer do, {self.ties} in a tie."

    def __call__(self, bits: Sequence[int]) -> int:
        lead = 2 * sum(bits) - len(bits)
        return self.ties if lead == 0 else int(lead > 0)


class AnyOrAll(Aggregator):
    by: Literal["any", "all"]

    @property
    def description(self) -> str:
        return f"1 if {'at least one' if self.by == 'any' else 'every'} criterion holds, else 0."

    def __call__(self, bits: Sequence[int]) -> int:
        return int(any(bits) if self.by == "any" else all(bits))


class Weights(Aggregator):
    by: Literal["weights"]
    weights: dict[str, Number]
    """By the criteria's names, in their order once the rubric is read."""
    threshold: Number
    """The bit is 1 from this sum of weights on."""

    @model_validator(mode="after")
    def _both_bits_are_reached(self) -> "Weights":
        most = math.fsum(weight for weight in self.weights.values() if weight > 0)
        least = math.fsum(weight for weight in self.weights.values() if weight < 0)
        if not least < self.threshold <= most:
            told = f"with the threshold {self.threshold} every aggregated bit would be {int(self.threshold <= least)}"
            raise ValueError(f"{told}; allowed is above {least:g} and up to {most:g}")
        return self

    @property
    def description(self) -> str:
        weights = ", ".join(map(str, self.weights.values()))
        return (
            f"The criteria have the weights {weights}, in this order: 1 if the weights of those that hold add up to "
            f"{self.threshold} or more, else 0."
        )

    def __call__(self, bits: Sequence[int]) -> int:
        held = (weight for weight, bit in zip(self.weights.values(), bits, strict=True) if bit)
        return int(math.fsum(held) >= self.threshold)


_BY: dict[str, type[Aggregator]] = {"majority": Majority, "any": AnyOrAll, "all": AnyOrAll, "weights": Weights}
KINDS = (Majority, AnyOrAll, Weights)


def _by_word(value: Any) -> Any:
    given = {"by": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or not isinstance(given.get("by"), str):
        raise ValueError(f"should be {', '.join(_BY)}, or a mapping with one of these as 'by'")  # noqa: TRY004
    if given["by"] not in _BY:
        raise ValueError(not_among("way to make the label", given["by"], list(_BY)))
    return given


if TYPE_CHECKING:
    AnyAggregator = Aggregator
else:
    AnyAggregator = Annotated[
        union_of(KINDS), Discriminator(lambda value: tag(_BY[value["by"]])), BeforeValidator(_by_word)
    ]
