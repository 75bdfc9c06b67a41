"""The protocol: the honest pass, echoes never do, lies survive no longer than the bound; and labels as values."""

import asyncio
import math
from functools import cache

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.checker import Undecidable
from checkers.draws import seed_of
from checkers.labelling.checker import LabellingProblem
from checkers.labelling.protocol import Game, Verifier, commit, is_echo, lie_bound, paper_lie_bound, play, play_all
from checkers.labelling.questions import GenerateReply, datapoint_of
from checkers.labelling.rubric import Bits, parse_rubric, same_label, shown
from tests.checkers.labelling.players import (
    IN_PHENOMENON,
    OUT_OF_PHENOMENON,
    bit_strings,
    encoded,
    honest,
    proposing,
    string_like,
)
from tests.support.record_strategies import json_values

bits = st.text("01", min_size=12, max_size=12)
seeds = st.integers().map(seed_of)
rubrics = st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON])


@given(x=bits, seed=seeds, rubric=rubrics, rounds=st.integers(1, 6))
def test_an_honest_evaluator_always_succeeds(x, seed, rubric, rounds):
    verifier = Verifier(rubric)
    game = asyncio.run(play(x, honest(verifier), verifier, seed=seed, rounds=rounds))
    assert game.succeeded
    assert len(game.run.rounds) == rounds
    assert all(one.similar != x for one in game.run.rounds)


@given(x=json_values, seed=seeds, rubric=rubrics)
def test_an_echo_is_always_caught_in_the_first_round(x, seed, rubric):
    game = asyncio.run(play(x, proposing(lambda x, _: x), Verifier(rubric), seed=seed))
    assert not game.succeeded
    assert [one.fault for one in game.run.rounds] == ["echo"]


@given(x=bits, seed=seeds)
def test_a_game_can_be_played_again_from_its_seed_up_to_the_first_failure(x, seed):
    def one() -> Game:
        return asyncio.run(play(x, proposing(string_like), Verifier(IN_PHENOMENON), seed=seed))

    first = one()
    assert first == one()
    rounds = first.run.rounds
    assert [commit(seed, played.number, played.similar, 1) for played in rounds] == [
        played.commitment for played in rounds
    ]
    assert all(played.passed for played in rounds[:-1])


@cache
def _all_encoded() -> dict[str, tuple[Bits, Bits]]:
    return {x: encoded(IN_PHENOMENON, x) for x in bit_strings()}


@cache
def _same_criteria_other_clauses(x: str) -> str:
    wanted, total = _all_encoded()[x]
    return next(one for one, (bits, every) in _all_encoded().items() if bits == wanted and every != total)


@pytest.mark.parametrize("rounds", [1, 3])
async def test_a_cheat_that_always_passes_one_challenge_survives_one_half_of_the_rounds(rounds):
    cheat, verifier = proposing(lambda x, _: _same_criteria_other_clauses(str(x))), Verifier(IN_PHENOMENON)
    games = [await play(x, cheat, verifier, seed=seed_of(x), rounds=rounds) for x in bit_strings()[:800]]
    share, bound = sum(game.succeeded for game in games) / 800, lie_bound(rounds)
    assert abs(share - bound) < 4 * math.sqrt(bound * (1 - bound) / 800)
    assert bound > paper_lie_bound(rounds)


def check(challenge, x, similar, rubric=IN_PHENOMENON):
    return asyncio.run(Verifier(rubric).check(challenge, x, similar))


@given(x=json_values, other=json_values, rubric=rubrics)
def test_isomorphism_compares_the_criteria_and_nothing_else(x, other, rubric):
    finding = check("isomorphism", x, other, rubric)
    if finding.fault != "echo":
        assert (finding.fault is None) == (encoded(rubric, x)[0] == encoded(rubric, other)[0])
        assert (finding.encoding, finding.similar_encoding) == (encoded(rubric, x)[0], encoded(rubric, other)[0])


@given(x=st.text("01", max_size=16), other=st.text("01", max_size=16), rubric=rubrics)
def test_permutation_wants_a_like_part_of_the_other_for_each_part_of_x(x, other, rubric):
    finding = check("permutation", x, other, rubric)
    if finding.fault == "echo":
        return
    there = {encoded(rubric, part)[1] for part in rubric.relevant(other)}
    missing = [part for part in rubric.relevant(x) if encoded(rubric, part)[1] not in there]
    assert (finding.fault, finding.unmatched) == (("unmatched_part", missing[0]) if missing else (None, None))
    assert finding.encoding == encoded(rubric, x)[1]


@pytest.mark.parametrize("made", ["{", '{"a": "\\ud800"}', "[NaN]", "1e999", "[" * 100_000])
def test_what_no_message_can_carry_is_no_datapoint(made):
    with pytest.raises(orjson.JSONDecodeError):
        datapoint_of(GenerateReply(reason="", datapoint=made), 1)


@given(x=json_values)
def test_every_datapoint_can_be_shown_and_generated(x):
    made = datapoint_of(GenerateReply.model_construct(datapoint=shown(x)), x)
    assert made == x
    assert is_echo(x, made)


@pytest.mark.parametrize(
    ("curly", "plain"),
    [
        ("It’s a “no” – or\u00a0not", 'It\'s a "no" - or not'),
        ("well\u2011known", "well-known"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_signs_that_come_back_straight_make_no_difference(curly, plain):
    assert is_echo([{"text": curly}], [{"text": plain}])
    assert same_label(curly, plain)
    assert same_label(1, True)
    assert same_label("1", 1)
    assert not same_label("polite", "Polite")


def _ternary(*labels: str) -> LabellingProblem:
    rubrics = [
        parse_rubric(
            f'rubric: {one}\ncriteria:\n  many: x.count("1") >= {least}\n'
            f"label: {{by: all, values: {{0: {labels[-1]}, 1: {one}}}}}\n",
            shown=one,
        )
        for least, one in zip(range(9, 0, -3), labels[:-1], strict=False)
    ]
    return LabellingProblem("ones", rubrics)


@given(chosen=st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3))
def test_k_labels_come_from_k_minus_one_bits(chosen):
    problem = _ternary("many", "some", "few", "none")
    assert problem.labels == ("many", "some", "few", "none")
    assert problem.label(chosen) == (problem.labels[chosen.index(1)] if 1 in chosen else "none")
    problem.require("few", "ones")
    with pytest.raises(Undecidable):
        problem.require("all", "ones")


def test_a_lie_in_one_game_is_enough_to_fail():
    verifiers = [Verifier(rubric) for rubric in _ternary("many", "few", "none").rubrics]
    players = [proposing(lambda x, _: "1" + "0" * 11), proposing(lambda x, _: x)]
    games = asyncio.run(play_all("0" * 12, players, verifiers, seed="s"))
    assert [game.succeeded for game in games] == [True, False]
    assert len({game.seed for game in games}) == 2
