"""The protocol: the honest pass, echoes never do, lies survive no longer than the bound; and labels as values."""

import asyncio
import math
from functools import cache
from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.draws import seed_of, uniform
from checkers.labelling.protocol import (
    Game,
    LabellingProblem,
    commit,
    is_echo,
    lie_bound,
    paper_lie_bound,
    play,
    play_all,
)
from checkers.labelling.questions import datapoint_of
from checkers.labelling.rubric import parse_rubric, same_label, shown
from tests.checkers.labelling.players import (
    IN_PHENOMENON,
    OUT_OF_PHENOMENON,
    Scripted,
    bit_strings,
    encoded,
    honest,
    string_like,
    verifier,
)
from tests.support.record_strategies import json_values

bits = st.text("01", min_size=12, max_size=12)
seeds = st.integers().map(seed_of)


@given(x=bits, seed=seeds, rubric=st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON]), rounds=st.integers(1, 6))
def test_an_honest_evaluator_always_succeeds(x, seed, rubric, rounds):
    judge = verifier(rubric)
    game = asyncio.run(play(x, honest(judge), judge, seed=seed, rounds=rounds))
    assert game.succeeded
    assert len(game.rounds) == rounds
    assert all(one.proposal.similar != x for one in game.rounds)


@given(x=json_values, seed=seeds, rubric=st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON]))
def test_an_echo_is_always_caught_in_the_first_round(x, seed, rubric):
    game = asyncio.run(play(x, Scripted(lambda x, _: x), verifier(rubric), seed=seed))
    assert not game.succeeded
    assert [one.finding.fault for one in game.rounds] == ["echo"]


@given(x=bits, seed=seeds)
def test_a_game_can_be_played_again_from_its_seed(x, seed):
    def one() -> Game:
        return asyncio.run(play(x, Scripted(lambda x, turn: string_like(x, turn.draw)), verifier(), seed=seed))

    first, second = one(), one()
    assert first == second
    assert [commit(seed, played.number, played.proposal) for played in first.rounds] == [
        played.commitment for played in first.rounds
    ]
    assert (
        first.rounds[:-1] == tuple(played for played in first.rounds if played.finding.passed)[: len(first.rounds) - 1]
    )


def test_challenges_are_drawn_evenly_and_apart_from_the_evaluators_own_draws():
    drawn = [uniform(seed_of(number), "challenge 1") < 0.5 for number in range(4000)]
    assert abs(sum(drawn) - 2000) < 4 * math.sqrt(1000)
    foretold = [Random(f"{seed_of(number)}/evaluator").random() < 0.5 for number in range(4000)]
    agree = sum(a == b for a, b in zip(drawn, foretold, strict=True))
    assert abs(agree - 2000) < 4 * math.sqrt(1000)


def _survivors(similar, rounds: int, games: int) -> float:
    """The share of games over `rounds` rounds that a liar wins."""
    judge = verifier()
    strings = [x for x, _ in zip(bit_strings(), range(games), strict=False)]

    async def all_of_them() -> list[Game]:
        return [await play(x, Scripted(similar), judge, seed=seed_of(x), rounds=rounds) for x in strings]

    return sum(game.succeeded for game in asyncio.run(all_of_them())) / games


@cache
def _all_encoded() -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    return {x: encoded(IN_PHENOMENON, x) for x in bit_strings()}


@cache
def _same_criteria_other_clauses(x: str) -> str:
    wanted, total = _all_encoded()[x]
    return next(one for one, (bits, every) in _all_encoded().items() if bits == wanted and every != total)


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_cheat_that_always_passes_one_challenge_survives_one_half_of_the_rounds(rounds):
    share = _survivors(lambda x, _: _same_criteria_other_clauses(x), rounds, 800)
    bound = lie_bound(rounds)
    assert abs(share - bound) < 4 * math.sqrt(bound * (1 - bound) / 800)
    assert bound > paper_lie_bound(rounds)


rubrics = st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON])


def check(challenge, x, similar, rubric=IN_PHENOMENON):
    return asyncio.run(verifier(rubric).check(challenge, x, similar))


@given(x=json_values, other=json_values, rubric=rubrics)
def test_isomorphism_compares_the_criteria_and_nothing_else(x, other, rubric):
    finding = check("isomorphism", x, other, rubric)
    if finding.fault != "echo":
        assert finding.passed == (encoded(rubric, x)[0] == encoded(rubric, other)[0])
        assert (finding.encoding, finding.similar_encoding) == (encoded(rubric, x)[0], encoded(rubric, other)[0])


@given(x=st.text("01", max_size=16), other=st.text("01", max_size=16), rubric=rubrics)
def test_permutation_wants_a_like_part_of_the_other_for_each_part_of_x(x, other, rubric):
    finding = check("permutation", x, other, rubric)
    if finding.fault == "echo":
        return
    there = {encoded(rubric, part)[1] for part in rubric.relevant(other)}
    missing = [part for part in rubric.relevant(x) if encoded(rubric, part)[1] not in there]
    assert finding.passed == (not missing)
    if missing:
        assert finding.unmatched == missing[0]
    assert finding.encoding == encoded(rubric, x)[1]


def test_permutation_sees_clauses_that_cancel_out():
    # Neither clause of the xor holds for the one, both for the other: the criterion is the same.
    x, other = "100000000001", "001010100010"
    assert encoded(IN_PHENOMENON, x)[0] == encoded(IN_PHENOMENON, other)[0]
    assert check("isomorphism", x, other).passed
    assert check("permutation", x, other).fault == "unmatched_part"


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
