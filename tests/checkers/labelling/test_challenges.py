"""The two challenges."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.checkers.labelling.players import IN_PHENOMENON, OUT_OF_PHENOMENON, encoded, verifier
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
