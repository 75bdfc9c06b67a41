"""Evaluators that are models; files of examples; datapoints and labels as values; several labels."""

import asyncio
from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.challenges import is_echo
from checkers.labelling.evaluators import LLMEvaluator
from checkers.labelling.protocol import LabellingProblem, Turn, play_all
from checkers.labelling.questions import Exemplar, LabellingPrompts, LabelReply, PickReply, datapoint_of, load_examples
from checkers.labelling.rubric import parse_rubric, same_label, shown
from models.protocol import Answer
from tests.support.labelling import Scripted, verifier
from tests.support.record_strategies import json_values
from tests.support.virtual_time import run_virtually


def turn(seed: int = 0, number: int = 1) -> Turn:
    return Turn(number=number, draw=Random(seed))


class Slow:
    """Labels 1 and picks the first candidate, each in a second."""

    name = "slow"

    async def ask(self, question):
        await asyncio.sleep(1)
        if question.reply is PickReply:
            return Answer(PickReply(reason="", choice=1))
        return Answer(LabelReply(reasons=[], label="1"))

    async def close(self):
        pass


def test_picking_does_not_wait_for_the_label():
    async def propose():
        pool = ["011011010110", "011011010101", "011011011010"]
        evaluator = LLMEvaluator(Slow(), verifier(), LabellingPrompts(), strategy="pick", pool=pool)
        return await evaluator.propose("011011010110", turn())

    proposed, seconds = run_virtually(propose)
    assert (proposed.bit, seconds) == (1, 1)


def test_examples_are_read_with_or_without_labels(tmp_path):
    file = tmp_path / "examples.jsonl"
    file.write_text('\ufeff{"x": "a", "y": 1}\n\n{"x": {"b": [1]}}\n', encoding="utf-8")
    assert load_examples(file) == (Exemplar(x="a", y=1), Exemplar(x={"b": [1]}))


@pytest.mark.parametrize("made", ["{", '{"a": "\\ud800"}', "[NaN]", "1e999", "[" * 100_000])
def test_what_no_message_can_carry_is_no_datapoint(made):
    class Reply:
        datapoint = made

    with pytest.raises(orjson.JSONDecodeError):
        datapoint_of(Reply(), 1)  # type: ignore[arg-type]


@given(x=json_values)
def test_every_datapoint_can_be_shown_and_generated(x):
    class Reply:
        datapoint = shown(x)

    made = datapoint_of(Reply(), x)  # type: ignore[arg-type]
    assert made == x
    assert is_echo(x, made)


@given(first=json_values, second=json_values)
def test_echoes_are_alike_both_ways(first, second):
    assert is_echo(first, first)
    assert is_echo(first, second) == is_echo(second, first)


STRAIGHT = {
    "It’s a “no” – or\u00a0not": 'It\'s a "no" - or not',
    "well\u2011known": "well-known",
    "a\u202fb\u2009c": "a b c",
    "co\u00adoperate": "cooperate",
}


@pytest.mark.parametrize(("curly", "plain"), STRAIGHT.items())
def test_signs_that_come_back_straight_make_no_difference(curly, plain):
    assert is_echo(curly, plain)
    assert is_echo([{"text": curly}], [{"text": plain}])
    assert same_label(curly, plain)


@pytest.mark.parametrize(
    ("first", "second"), [(True, 1), (1, 1.5), ("ab", "a-b"), ("1", 1), (None, 0), ([], {}), ({"a": 1}, {"b": 1})]
)
def test_values_of_other_kinds_are_no_echoes(first, second):
    assert not is_echo(first, second)


def test_labels_are_compared_by_what_they_say():
    assert same_label(1, True)
    assert same_label("1", 1)
    assert same_label(" polite ", "polite")
    assert not same_label("polite", "Polite")
    assert not same_label(0, "")


def _ternary(*labels: str) -> LabellingProblem:
    rubrics = [
        parse_rubric(
            f'rubric: {one}\ncriteria:\n  many: x.count("1") >= {least}\n'
            f"label: {{by: all, values: {{0: {labels[-1]}, 1: {one}}}}}\n",
            shown=one,
        )
        for least, one in zip(range(9, 0, -3), labels[:-1], strict=False)
    ]
    return LabellingProblem("ones", tuple(rubrics))


@given(chosen=st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3))
def test_k_labels_come_from_k_minus_one_bits(chosen):
    problem = _ternary("many", "some", "few", "none")
    assert problem.labels == ("many", "some", "few", "none")
    assert problem.label(chosen) == (problem.labels[chosen.index(1)] if 1 in chosen else "none")
    assert problem.knows("few")
    assert not problem.knows("all")


def test_every_label_is_reached_and_a_lie_in_one_game_is_enough_to_fail():
    problem = _ternary("many", "few", "none")
    judges = [verifier(rubric) for rubric in problem.rubrics]
    echo = Scripted(lambda x, _: x)
    honest = Scripted(lambda x, _: "1" + "0" * 11)
    games = asyncio.run(play_all("0" * 12, [honest, echo], judges, seed="s"))
    assert [game.succeeded for game in games] == [True, False]
    assert len({game.seed for game in games}) == 2
