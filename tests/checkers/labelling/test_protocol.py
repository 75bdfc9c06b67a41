"""The protocol's laws: the honest pass, echoes never do, lies survive no longer than the bound."""

import asyncio
import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.draws import seed_of, uniform
from checkers.labelling.bounds import expected_accuracy, lie_bound, paper_lie_bound
from checkers.labelling.evaluators.composed import Composed
from checkers.labelling.evaluators.search import honest, string_like
from checkers.labelling.flips import flip
from checkers.labelling.protocol import Game, commit, play
from tests.support.labelling import IN_PHENOMENON, OUT_OF_PHENOMENON, Fixed, Scripted, bit_strings, encoded, verifier
from tests.support.made import json_values

bits = st.text("01", min_size=12, max_size=12)
seeds = st.integers().map(seed_of)


@given(x=bits, seed=seeds, rubric=st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON]), rounds=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_an_honest_evaluator_always_succeeds(x, seed, rubric, rounds):
    judge = verifier(rubric)
    evaluator = Composed("honest", Fixed(), honest(judge, string_like))
    game = asyncio.run(play(x, evaluator, judge, seed=seed, rounds=rounds))
    assert game.succeeded
    assert len(game.rounds) == rounds
    assert all(one.proposal.similar != x for one in game.rounds)


@given(x=json_values, seed=seeds, rubric=st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON]))
def test_an_echo_is_always_caught_in_the_first_round(x, seed, rubric):
    game = asyncio.run(play(x, Scripted(lambda x, _: x), verifier(rubric), seed=seed))
    assert not game.succeeded
    assert [one.finding.fault for one in game.rounds] == ["echo"]


@pytest.mark.parametrize("again", ["Thank  you. ", "THANK YOU.", "thank\nyou."])
def test_other_spaces_and_letter_case_make_an_echo_too(again):
    game = asyncio.run(play("Thank you.", Scripted(lambda *_: again), verifier(), seed="1"))
    assert game.rounds[0].finding.fault == "echo"


def test_an_echo_passes_where_the_notebooks_are_repeated():
    game = asyncio.run(play("010101", Scripted(lambda x, _: x), verifier(mode="strings"), seed="1"))
    assert game.succeeded


@given(x=bits, seed=seeds, draws=st.integers())
@settings(max_examples=60, deadline=None)
def test_a_game_can_be_played_again_from_its_seed(x, seed, draws):
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


def test_evaluators_are_told_what_they_proposed_before_and_nothing_of_the_challenge():
    judge = verifier()
    honest_one = honest(judge, string_like)
    evaluator = Scripted(lambda x, turn: honest_one.similar(x, 1, turn))
    game = asyncio.run(play("011011010110", evaluator, judge, seed="a", rounds=4))
    proposed = tuple(one.proposal.similar for one in game.rounds)
    assert [turn.earlier for turn in evaluator.turns] == [proposed[:number] for number in range(4)]


def test_challenges_are_drawn_evenly_and_apart_from_the_evaluators_own_draws():
    drawn = [uniform(seed_of(number), "challenge 1") < 0.5 for number in range(4000)]
    assert abs(sum(drawn) - 2000) < 4 * math.sqrt(1000)
    foretold = [Random(f"{seed_of(number)}/evaluator").random() < 0.5 for number in range(4000)]
    agree = sum(a == b for a, b in zip(drawn, foretold, strict=True))
    assert abs(agree - 2000) < 4 * math.sqrt(1000)


def _survivors(similar, rounds: int, games: int, mode: str) -> float:
    """The share of games over `rounds` rounds that a liar wins."""
    judge = verifier(mode=mode)
    strings = [x for x, _ in zip(bit_strings(), range(games), strict=False)]

    async def all_of_them() -> list[Game]:
        return [await play(x, Scripted(similar), judge, seed=seed_of(x), rounds=rounds) for x in strings]

    return sum(game.succeeded for game in asyncio.run(all_of_them())) / games


def _same_criteria_other_clauses(x: str) -> str:
    wanted, total = encoded(IN_PHENOMENON, x)
    return next(
        one
        for one in bit_strings()
        if encoded(IN_PHENOMENON, one)[0] == wanted and encoded(IN_PHENOMENON, one)[1] != total
    )


def _other_criteria(x: str) -> str:
    """Fails either challenge."""
    wanted = encoded(IN_PHENOMENON, x)[0]
    return next(
        one for one in bit_strings() if all(a != b for a, b in zip(encoded(IN_PHENOMENON, one)[0], wanted, strict=True))
    )


_known: dict[str, str] = {}


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_a_cheat_that_always_passes_one_challenge_survives_one_half_of_the_rounds(rounds):
    def cheat(x, _):
        if x not in _known:
            _known[x] = _same_criteria_other_clauses(x)
        return _known[x]

    share = _survivors(cheat, rounds, 800, "protocol")
    bound = lie_bound(rounds)
    assert abs(share - bound) < 4 * math.sqrt(bound * (1 - bound) / 800)
    assert bound > paper_lie_bound(rounds)


def test_a_liar_that_fails_either_challenge_never_survives():
    assert _survivors(lambda x, _: _other_criteria(x), 1, 200, "strings") == 0


def test_parts_can_only_help_with_the_first_challenge():
    share = _survivors(lambda x, _: _other_criteria(x), 1, 200, "protocol")
    assert share < lie_bound(1)


@given(accuracy=st.floats(0, 1), phi=st.floats(0, 1), rounds=st.integers(1, 10))
def test_expected_accuracy_grows_with_flips_and_with_rounds(accuracy, phi, rounds):
    expected = expected_accuracy(accuracy, phi, paper_lie_bound(rounds))
    assert accuracy - 1e-9 <= expected <= 1
    assert expected <= expected_accuracy(accuracy, phi, paper_lie_bound(rounds + 1)) + 1e-9
    assert expected_accuracy(accuracy, 0, paper_lie_bound(rounds)) == pytest.approx(accuracy)


@given(bit=st.sampled_from([0, 1]), phi=st.floats(0, 1), seed=seeds)
def test_only_lost_games_are_flipped_and_phi_is_the_probability_to_flip(bit, phi, seed):
    assert flip(bit, succeeded=True, phi=phi, seed=seed).bit == bit
    lost = flip(bit, succeeded=False, phi=phi, seed=seed)
    assert lost.flipped == (lost.bit != bit)
    assert flip(bit, succeeded=False, phi=1, seed=seed).bit == 1 - bit
    assert flip(bit, succeeded=False, phi=0, seed=seed).bit == bit


def test_flips_come_as_often_as_phi_says():
    flipped = sum(flip(1, succeeded=False, phi=0.3, seed=seed_of(number)).flipped for number in range(4000))
    assert abs(flipped - 1200) < 4 * math.sqrt(4000 * 0.3 * 0.7)


def test_there_must_be_a_round():
    with pytest.raises(ValueError, match="rounds = 0: must be 1 or more"):
        asyncio.run(play("0", Scripted(lambda x, _: x), verifier(), seed="1", rounds=0))
