"""The same record gets the same answer, in any company, and no text breaks the judge."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.protocol import Claims, ModelFailed

FLOAT_NOISE = 0.002
REFERENCE = "The council met on Tuesday. It approved the pool by eight votes to three. Work begins in March."
SENTENCE = "The council approved the swimming pool, eight to three."

texts = st.text(st.characters(), max_size=120)
quick = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(
    beside=st.lists(
        st.tuples(st.sampled_from([REFERENCE, "", "Something else happened."]), st.lists(texts, max_size=3)), max_size=4
    )
)
def test_company_changes_nothing(judge, beside):
    record = Claims(REFERENCE, (SENTENCE, "Work begins in May."), "summary")
    alone = judge.judge([record])[0]
    others = [Claims(reference, tuple(sentences), "answer") for reference, sentences in beside]
    among = judge.judge([*others, record])[-1]
    assert [j.reason for j in among] == [j.reason for j in alone]
    assert [j.support for j in among] == pytest.approx([j.support for j in alone], abs=FLOAT_NOISE)


@quick
@given(
    reference=texts,
    sentences=st.lists(texts, max_size=3),
    task=st.sampled_from(["summary", "answer", "paraphrase", "entailment", "answerability"]),
)
def test_no_text_breaks_it(judge, reference, sentences, task):
    graded = judge.judge([Claims(reference, tuple(sentences), task, "Who?")])[0]
    if isinstance(graded, ModelFailed):
        assert graded.cause in {"no_claim", "unsupported_language"}
        return
    assert len(graded) == len(sentences)
    assert all(0.0 <= judgement.support <= 1.0 and judgement.reason for judgement in graded)


def test_the_whole_of_a_long_reference_is_looked_at(judge):
    filler = " ".join(f"Section {k} deals with matters of procedure." for k in range(400))
    right = "The council approved the pool by eight votes to three."
    at_the_end = Claims(f"{filler} {REFERENCE}", (right, "It approved the pool by nine votes to three."), "summary")
    grades = judge.judge([at_the_end])[0]
    assert [grade.supported for grade in grades] == [True, False]


JUNK = ["", "- - -", "When? " * 500, "a" * 100_000, "9" * 5_000, "1,2,3." * 300, "\ud800 broken", "\x00\x1b[31m"]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_is_judged_on_either_side(judge, junk):
    for kind in ("summary", "entailment", "answerability"):
        for claims in (Claims(junk, (SENTENCE,), kind), Claims(REFERENCE, (junk,), kind)):
            graded = judge.judge([claims])[0]
            assert isinstance(graded, ModelFailed) or graded[0].support < 0.6
