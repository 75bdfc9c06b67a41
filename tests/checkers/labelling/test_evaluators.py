"""Evaluators that are models; files of examples; datapoints and labels as values; several labels."""

import asyncio

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.protocol import LabellingProblem, is_echo, play_all
from checkers.labelling.questions import datapoint_of
from checkers.labelling.rubric import parse_rubric, same_label, shown
from tests.checkers.labelling.players import Scripted, verifier
from tests.support.record_strategies import json_values


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
