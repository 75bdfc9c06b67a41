"""Which texts are matched, in what order, and by whom: judges that read, judges that grade, cross-encoders."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.retrieval.candidates import candidates_of, larger_is_closer
from checkers.retrieval.cross_encoder import PairModel, cross_encoder_grader
from checkers.retrieval.matching import AnsweringReply, BothDirections, MatchingReply, TextMatcher
from models.billing import billed
from models.claims import Claims
from models.local_grader import LocalGrader
from models.meter import MeteredGrader
from models.protocol import OracleFailed, Question
from models.replies import Completion, Unusable, read_reply
from schemas import DirectionFinding
from tests.support.graders import ScriptedGrader
from tests.support.retrieval import has_all_words, hit, tiny_cross_encoder

QUERY = "Can I pay by card?"
NLI = ("contradiction", "neutral", "entailment")


def order_of(record, **limits) -> list[str]:
    chosen, _ = candidates_of(record, **{"most": 10, "characters": 10_000} | limits)
    return [one.id for one in chosen]


@given(st.lists(st.floats(-1, 1, allow_nan=False), max_size=8), st.booleans())
def test_the_closest_come_first_whichever_way_the_scores_run(scores, distances):
    sign = -1 if distances else 1
    record = hit(
        QUERY,
        score=2.0 * sign,
        metric="euclidean" if distances else "cosine",
        candidates=[(f"text {number}", sign * one) for number, one in enumerate(scores)],
    )
    chosen, _ = candidates_of(record, most=10, characters=10_000)
    assert [sign * one.score for one in chosen] == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("metric", "score", "others", "larger"),
    [
        ("cosine", 0.9, [0.8], True),
        ("euclidean", 0.1, [0.8], False),
        # A store that gives the cosine's distance under the name of the cosine.
        ("cosine", 0.05, [0.2, 0.3], False),
        # A matched text that is not the closest: only the name tells.
        ("cosine", 0.5, [0.8, 0.3], True),
        ("Euclidean", 0.5, [0.8, 0.3], False),
        ("l2", 0.5, [], False),
        ("dot", 0.5, [], True),
        (None, 0.5, [0.5], True),
    ],
)
def test_scores_tell_which_way_they_run_or_else_the_metric(metric, score, others, larger):
    record = hit(QUERY, metric=metric, score=score, candidates=[("text", one) for one in others])
    assert larger_is_closer(record) is larger


def test_candidates_are_limited_in_number_and_length_and_those_left_out_are_counted():
    record = hit(QUERY, candidates=[("a" * 10, 0.9), ("b" * 30, 0.8), ("c" * 10, 0.7), ("d", 0.6)])
    assert order_of(record, most=3) == ["c1", "c2", "c3"]
    assert order_of(record, characters=25) == ["c1", "c3", "c4"]
    assert candidates_of(record, most=3, characters=25)[1] == 2
    assert candidates_of(record, most=0, characters=25)[1] == 4


def test_the_matched_text_among_the_candidates_and_texts_without_words_are_no_candidates():
    matched = {"id": "q-1", "text": "What resets my password?", "score": 0.97}
    record = hit(candidates=[("…", 0.9), ("Another text", 0.8)])
    record = record.model_copy(update={"candidates": (type(record.matched)(**matched), *record.candidates)})
    assert order_of(record) == ["c2"]
    assert candidates_of(record, most=10, characters=1000)[1] == 0


@pytest.mark.parametrize("fields", [{"text": "Another text"}, {"id": "q-2"}])
def test_what_shares_only_id_or_text_with_the_matched_one_is_a_candidate(fields):
    record = hit()
    other = record.matched.model_copy(update=fields)
    record = record.model_copy(update={"candidates": (record.matched, other)})
    assert candidates_of(record, most=10, characters=1000) == ((other,), 0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_cache_needs_both_directions_and_a_knowledge_store_that_the_text_entails_the_query(there, back):
    comparison = BothDirections(DirectionFinding(score=there), DirectionFinding(score=back))
    assert comparison.score("cache") == min(there, back)
    assert comparison.score("knowledge") == there


async def test_a_grading_judge_is_asked_for_every_direction_of_every_text() -> None:
    grader = ScriptedGrader(has_all_words)
    judge = MeteredGrader(grader)
    texts = ["Can I pay by credit card?", "Can I pay?", QUERY, "Can I pay?"]
    found = await TextMatcher(judge).compare("cache", QUERY, texts)
    assert [(one.text_to_query.score, one.query_to_text.score) for one in found] == [(1, 0), (0, 1), (1, 1), (0, 1)]
    assert grader.graded == [
        Claims(QUERY, ("Can I pay by credit card?", "Can I pay?"), "entailment"),
        Claims("Can I pay by credit card?", (QUERY,), "entailment"),
        Claims("Can I pay?", (QUERY,), "entailment"),
    ]


async def test_a_question_is_asked_about_each_text_and_a_text_that_asks_is_matched() -> None:
    grader = ScriptedGrader(has_all_words)
    texts = ["You can pay by card, can I say.", "Can I pay by card at the bar?", "Can I pay?", QUERY]
    found = await TextMatcher(MeteredGrader(grader)).answers(QUERY, texts)
    assert [one.score for one in found] == [1, 1, 0, 1]
    assert grader.graded == [
        Claims("You can pay by card, can I say.", (QUERY,), "answerability"),
        Claims("Can I pay by card at the bar?", (QUERY,), "entailment"),
        Claims("Can I pay?", (QUERY,), "entailment"),
    ]


async def test_a_text_that_is_the_query_needs_nobody() -> None:
    grader = ScriptedGrader(has_all_words)
    judge = MeteredGrader(grader)
    (found,) = await TextMatcher(judge).compare("cache", QUERY, [f" {QUERY}\n"])
    assert found.score("cache") == found.score("knowledge") == 1.0
    assert grader.graded == []


def answer(**fields: object) -> dict[str, object]:
    """What a judge says of the first text about a question."""
    return {"number": 1, "reason": "It does.", "answers": True} | fields


@pytest.mark.parametrize("said", [{"texts": []}, {"texts": [answer(number=2)]}, {"texts": [answer(), answer()]}])
def test_a_reply_about_a_question_that_does_not_cover_the_texts_is_complained_about(said):
    question = _asked()
    assert "numbered 1 to 1" in str(question.complaint(read_reply(_completion(said), question).reply))


@pytest.mark.parametrize("said", [{"texts": [answer(answers="yes")]}, {"texts": [answer(follows=True)]}])
def test_a_reply_about_a_question_of_another_form_is_unusable(said):
    with pytest.raises(Unusable):
        read_reply(_completion(said), _asked())


def _asked() -> Question[AnsweringReply]:
    return TextMatcher(ScriptedGrader(has_all_words)).question("question", QUERY, ["Can I pay?"], AnsweringReply)


def entry(**fields: object) -> dict[str, object]:
    """What a judge says of the first text."""
    direction = {"reason": "It does.", "follows": True}
    return {"number": 1, "text_to_query": direction, "query_to_text": direction} | fields


@pytest.mark.parametrize(
    "said",
    [
        {"texts": []},
        {"texts": [entry(number=2)]},
        {"texts": [entry(), entry()]},
    ],
)
def test_a_reply_that_does_not_cover_the_texts_is_complained_about(said):
    question = _question()
    assert "numbered 1 to 1" in str(question.complaint(read_reply(_completion(said), question).reply))


@pytest.mark.parametrize(
    "said",
    [
        {"texts": [entry(text_to_query={"reason": "", "follows": "yes"})]},
        {"texts": [entry(query_to_text=None)]},
        {"texts": [entry(score=0.9)]},
        {"texts": [], "note": "all accepted"},
        {"reason": [], "is_consistent": True},
        "They all match.",
    ],
)
def test_a_reply_of_another_form_is_unusable(said):
    with pytest.raises(Unusable):
        read_reply(_completion(said), _question())


def _question() -> Question[MatchingReply]:
    return TextMatcher(ScriptedGrader(has_all_words)).question("cache", QUERY, ["Can I pay?"], MatchingReply)


def _completion(said: object) -> Completion:
    return Completion(
        json.dumps(said), finish_reason="stop", refused=False, called_tools=False, prompt_tokens=1, completion_tokens=1
    )


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of inference that rejects what has a “not”."""
    return tiny_cross_encoder(tmp_path_factory.mktemp("nli"), NLI)


@pytest.fixture
async def oracle(nli: Path) -> AsyncIterator[LocalGrader]:
    oracle = cross_encoder_grader(str(nli))
    yield oracle
    await oracle.close()


@pytest.mark.usefixtures("imported_library")
class TestCrossEncoder:
    async def test_it_grades_through_the_same_questions(self, oracle: LocalGrader) -> None:
        texts = ["You can pay by card.", "You can not pay by card."]
        with billed() as bill:
            good, bad = await TextMatcher(MeteredGrader(oracle)).compare("cache", QUERY, texts)
        assert min(good.text_to_query.score, good.query_to_text.score) > 0.9
        assert max(bad.text_to_query.score, bad.query_to_text.score) < 0.1
        assert bill.usage.calls == 1

    @pytest.mark.parametrize(
        ("labels", "higher"),
        [(NLI, "without"), (("entailment", "neutral", "contradiction"), "with"), (("LABEL_0",), "without")],
    )
    def test_the_entailment_label_is_found_by_name_and_a_single_score_is_taken(self, tmp_path, labels, higher) -> None:
        model = PairModel(str(tiny_cross_encoder(tmp_path / "model", labels)))
        scores = model.scores(
            Claims("It opens at ten.", ("It does open at ten.", "It does not open at ten."), "entailment")
        )
        without, with_not = scores
        assert 0 <= min(scores) < 0.1
        assert 0.9 < max(scores) <= 1
        assert (without > with_not) == (higher == "without")

    def test_every_stretch_of_long_texts_counts(self, nli: Path) -> None:
        model = PairModel(str(nli))
        long = "The first paragraph says very little of note. " * 60
        contradicted, fine = model.scores(Claims("One.", (f"{long}It is not so.", long), "entailment"))
        assert contradicted < 0.1
        assert fine > 0.9
        # Some stretch of a long reference is enough.
        assert model.scores(Claims(f"{long}It is not so.", ("One.",), "entailment"))[0] > 0.9

    def test_nothing_is_cut_off_of_few_words_that_are_many_tokens(self, nli: Path, tmp_path: Path) -> None:
        long = f"{'x.' * 1500} not"
        assert PairModel(str(nli)).scores(Claims("One.", (long,), "entailment"))[0] < 0.1
        entails_not = PairModel(str(tiny_cross_encoder(tmp_path / "model", NLI[::-1])))
        assert entails_not.scores(Claims(long, ("One.",), "entailment"))[0] > 0.9

    @pytest.mark.parametrize("text", ["", "\n \n", "👍", "\ud83d", "x" * 5000])
    def test_it_grades_whatever_text(self, nli: Path, text: str) -> None:
        (score,) = PairModel(str(nli)).scores(Claims(text, (text,), "entailment"))
        assert 0 <= score <= 1

    async def test_labels_that_are_others_are_named(self, tmp_path) -> None:
        oracle = cross_encoder_grader(str(tiny_cross_encoder(tmp_path / "model", ("sports", "politics"))))
        with pytest.raises(OracleFailed, match=r"sports, politics; allowed are"):
            await oracle.grade("retrieval.cache", [Claims(QUERY, ("Can I pay?",), "entailment")])
        await oracle.close()

    async def test_a_model_that_is_not_there_is_named_each_time(self, tmp_path) -> None:
        oracle = cross_encoder_grader(str(tmp_path / "nowhere"))
        for _ in range(2):
            with pytest.raises(OracleFailed, match=r"nowhere"):
                await oracle.grade("retrieval.cache", [Claims(QUERY, ("Can I pay?",), "entailment")])
        await oracle.close()
