"""The two challenges, and what the second allows when relaxed."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.challenges import DISTANCES, RubricEncodings, hamming, jaccard
from checkers.labelling.rubric import NoJudge
from tests.support.labelling import IN_PHENOMENON, OUT_OF_PHENOMENON, PLAIN, encoded, verifier
from tests.support.record_strategies import json_values

encodings = st.integers(0, 6).flatmap(
    lambda n: st.tuples(*[st.tuples(*[st.sampled_from([0, 1])] * n) for _ in range(3)])
)
rubrics = st.sampled_from([IN_PHENOMENON, OUT_OF_PHENOMENON])


def check(challenge, x, similar, rubric=IN_PHENOMENON, **options):
    return asyncio.run(verifier(rubric, **options).check(challenge, x, similar))


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


@given(data=encodings)
def test_distances_are_distances(data):
    first, second, third = data
    for distance in DISTANCES.values():
        assert 0 <= distance(first, second) <= 1
        assert distance(first, second) == distance(second, first)
        assert (distance(first, second) == 0) == (first == second)
        assert distance(first, third) <= distance(first, second) + distance(second, third) + 1e-9


def test_what_the_distances_measure():
    assert hamming((1, 0, 1, 0), (1, 1, 1, 0)) == 0.25
    assert jaccard((1, 0, 1, 0), (1, 1, 1, 0)) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("epsilon", "fault"), [(0.34, None), (1 / 3, "too_far"), (0.2, "too_far")])
def test_a_relaxed_second_challenge_fails_from_epsilon_on(epsilon, fault):
    # They differ in one criterion of three.
    finding = check("isomorphism", "111111000000", "111111100000", distance=hamming, epsilon=epsilon)
    assert finding.fault == fault
    assert finding.distance == pytest.approx(1 / 3)


@pytest.mark.parametrize("options", [{"epsilon": 0.2}, {"distance": hamming}])
def test_distance_and_epsilon_go_together(options):
    with pytest.raises(ValueError, match="go together"):
        verifier(**options)


@pytest.mark.parametrize("epsilon", [0, -0.1, 0.51])
def test_epsilon_is_above_0_and_at_most_one_half(epsilon):
    with pytest.raises(ValueError, match=r"must be above 0 and at most 0\.5"):
        verifier(distance=hamming, epsilon=epsilon)


class Counting(NoJudge):
    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.at_once = self.most_at_once = 0

    async def bit(self, criterion, x):
        self.asked.append((criterion, x))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return "thank" in x


async def test_plain_questions_are_asked_at_once_and_each_once():
    judge = Counting()
    known = RubricEncodings(PLAIN, judge)
    await known.total("thanks", "no", "thanks")
    await known.total("thanks")
    assert len(judge.asked) == 4
    assert judge.most_at_once == 4


async def test_what_is_known_is_bounded_and_the_least_used_is_forgotten():
    judge = Counting()
    known = RubricEncodings(PLAIN, judge, kept=2)
    for x in ("a", "b", "a", "c", "a"):
        await known.total(x)
    assert len(judge.asked) == 6
    await known.total("b")
    assert len(judge.asked) == 8
