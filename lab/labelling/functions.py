"""Evaluators that are callables."""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pydantic import JsonValue

from checkers.labelling.protocol import EvaluatorFailed, Proposal, Turn
from checkers.labelling.values import from_json
from models.protocol import ModelUnavailable

Answered = tuple[JsonValue, int | bool]
"""x' and y'."""


@dataclass(frozen=True, slots=True)
class FunctionEvaluator:
    """Any callable, plain or async, from x to x' and y' (0 or 1, or a truth value)."""

    name: str
    function: Callable[[JsonValue], Answered | Awaitable[Answered]]

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """Call the function.

        Raises:
            EvaluatorFailed: it raised, or that is no pair of a datapoint and 0 or 1.
        """
        try:
            answered = self.function(x)
            if inspect.isawaitable(answered):
                answered = await answered
        except ModelUnavailable:
            raise
        except Exception as error:
            # A stranger's code may raise anything: one datapoint must not cost the others their labels.
            raise EvaluatorFailed("subject_failed", f"{self.name} raised {type(error).__name__}") from error
        match answered:
            case (similar, (0 | 1) as label):
                try:
                    return Proposal(similar=from_json(json.dumps(similar)), bit=int(label))
                except (TypeError, ValueError, RecursionError) as error:
                    detail = f"the x' of {self.name} is no JSON value: {error}"
                    raise EvaluatorFailed("subject_unusable", detail) from error
        raise EvaluatorFailed(
            "subject_unusable", f"{self.name} gave {type(answered).__name__}; expected a pair of x' and 0 or 1"
        )
