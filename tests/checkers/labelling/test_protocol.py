"""The protocol's laws: the honest pass, echoes never do, lies survive no longer than the bound."""

import asyncio
import math
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.draws import seed_of, uniform
from checkers.labelling.protocol import Game, commit, lie_bound, paper_lie_bound, play
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
