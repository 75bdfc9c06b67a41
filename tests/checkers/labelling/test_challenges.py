"""The two challenges."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.challenges import Verifier
from tests.support.labelling import IN_PHENOMENON, OUT_OF_PHENOMENON, PLAIN, encoded, verifier
from tests.support.record_strategies import json_values

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


class Counting:
    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.at_once = self.most_at_once = 0

    async def __call__(self, criterion, x):
        self.asked.append((criterion, x))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return "thank" in x


async def test_plain_questions_are_asked_at_once_and_each_once():
    judge = Counting()
    known = Verifier(PLAIN, judge)
    await known.total("thanks", "no", "thanks")
    await known.total("thanks")
    assert len(judge.asked) == 4
    assert judge.most_at_once == 4
