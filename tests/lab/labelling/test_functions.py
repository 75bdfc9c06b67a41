"""Evaluators that are callables."""

from random import Random

import pytest

from checkers.labelling.protocol import EvaluatorFailed, Turn
from lab.labelling.functions import FunctionEvaluator
from models.protocol import ModelUnavailable


def turn() -> Turn:
    return Turn(number=1, draw=Random(0))


async def test_any_callable_is_an_evaluator():
    async def later(x):
        return f"{x}!", True

    assert (await FunctionEvaluator("f", lambda x: (f"{x}?", 0)).propose("a", turn())).similar == "a?"
    proposed = await FunctionEvaluator("f", later).propose("a", turn())
    assert (proposed.similar, proposed.bit) == ("a!", 1)


@pytest.mark.parametrize("answer", [None, "ab", ("x",), ("x", 2), ("x", "1"), ("x", 1, 1)])
async def test_a_callable_that_gives_anything_else_is_told(answer):
    with pytest.raises(EvaluatorFailed, match="expected a pair"):
        await FunctionEvaluator("f", lambda _: answer).propose("a", turn())


@pytest.mark.parametrize("similar", [{1, 2}, float("nan"), "\ud800", {"a": b""}])
async def test_a_callable_whose_datapoint_no_message_can_carry_is_told(similar):
    with pytest.raises(EvaluatorFailed, match="the x' of f is no JSON value"):
        await FunctionEvaluator("f", lambda _: (similar, 1)).propose("a", turn())


async def test_what_a_callable_gives_is_taken_as_json_has_it():
    assert (await FunctionEvaluator("f", lambda _: ((1, {2: "b"}), 1)).propose("a", turn())).similar == [1, {"2": "b"}]


async def test_a_callable_that_raises_costs_its_own_datapoint_alone():
    def broken(x):
        raise KeyError(x)

    def down(x):
        raise ModelUnavailable("away", retry_after=1)

    with pytest.raises(EvaluatorFailed, match="f raised KeyError"):
        await FunctionEvaluator("f", broken).propose("secret", turn())
    with pytest.raises(ModelUnavailable):
        await FunctionEvaluator("f", down).propose("a", turn())
