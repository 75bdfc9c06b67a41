"""An evaluator made of a labeller and a generator, and those that any callable makes."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from checkers.labelling.distance import Bits
from checkers.labelling.protocol import EvaluatorFailed, Proposal, Turn
from checkers.oracle.protocol import OracleUnavailable


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label as a bit, and the bits of C(x) that the labeller claims, where it says any."""

    bit: int
    claimed: Bits | None = None


class Labeller(Protocol):
    """Gives labels; sigma may be shown to it."""

    async def label(self, x: JsonValue, turn: Turn) -> Labelled:
        """The label of `x`; raises what `Evaluator.propose` raises."""


class Generator(Protocol):
    """Makes datapoints; sigma is withheld from it."""

    async def similar(self, x: JsonValue, bit: int, turn: Turn) -> JsonValue:
        """A datapoint like `x`, whose label is `bit`, that is not x; raises what `Evaluator.propose` raises."""


@dataclass(frozen=True, slots=True)
class Composed:
    """Labels x, then generates x'. y' is the label of x, as in the authors' notebooks."""

    name: str
    labeller: Labeller
    generator: Generator

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """The label of x and a datapoint like it."""
        labelled = await self.labeller.label(x, turn)
        similar = await self.generator.similar(x, labelled.bit, turn)
        return Proposal(similar=similar, bit=labelled.bit, claimed=labelled.claimed)


Answered = tuple[JsonValue, int | bool]
"""x' and y'."""


@dataclass(frozen=True, slots=True)
class FunctionEvaluator:
    """Any callable, plain or async, from x to x' and y' (0 or 1, or a truth value)."""

    name: str
    function: Callable[[JsonValue], Answered | Awaitable[Answered]]

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """What the function gives.

        Raises:
            EvaluatorFailed: it raised, or that is no pair of a datapoint and 0 or 1.
        """
        try:
            answered = self.function(x)
            if inspect.isawaitable(answered):
                answered = await answered
        except OracleUnavailable:
            raise
        except Exception as error:
            # A stranger's code may raise anything: one datapoint must not cost the others their labels.
            raise EvaluatorFailed("subject_failed", f"{self.name} raised {type(error).__name__}") from error
        match answered:
            case (similar, (0 | 1) as label):
                return Proposal(similar=similar, bit=int(label))
        raise EvaluatorFailed(
            "subject_unusable", f"{self.name} gave {type(answered).__name__}; expected a pair of x' and 0 or 1"
        )
