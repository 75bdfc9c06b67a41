"""The local judge on phrases: what could mean the same, and what cannot."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.claims import ClaimKind, Claims, Judgement
from models.local import EmbeddingJudge


def judged(judge: EmbeddingJudge, first: str, second: str, around: tuple[str, str] | None = None) -> Judgement:
    return judge.judge([Claims(first, (second,), ClaimKind.PHRASE, around=around)])[0][0]


ALIKE = [
    ("the old bridge", "the ancient bridge"),
    ("bought the barge", "purchased the barge"),
    ("twelve barges", "12 barges"),
    ("the decision of the board", "the board's decision"),
    ("the prime minister", "the premier"),
    ("decided to close the mill", "made a decision to close the mill"),
    ("the plan would lead to a safer day", "the new plan should lead to a safer day"),
    ("failed to reach the harbour", "did not reach the harbour"),
    ("The Lock-Keeper", "the lock-keeper"),
    ("not closed", "open"),
    ("the failure of the dyke", "the dyke failed"),
    ("opened the meeting late in the afternoon", "began the session in the early evening"),
    (
        "the crew of the trawler was rescued by a helicopter after the storm",
        "after the gale a helicopter saved the trawler's crew",
    ),
]


def test_what_could_mean_the_same_is_confirmed(graded):
    rows = [*ALIKE, *((second, first) for first, second in ALIKE)]
    wrong = [(row, grade) for row, grade in zip(rows, graded(rows, "phrase"), strict=True) if grade.support < 0.5]
    assert not wrong


APART = [
    ("bought the barge", "sold the barge", "“bought” stands against “sold”"),
    ("the filled tank", "the unfilled tank", "“filled” stands against “unfilled”"),
    ("a previous meeting", "a later meeting", "“later” stands against “previous”"),
    ("on Monday", "on Tuesday", "“Monday” stands against “Tuesday”"),
    ("in May 2019", "in June 2019", "“June” stands against “May”"),
    ("12 barges", "14 barges", "“12” stands against “14”"),
    ("will arrive", "will not arrive", "“not”"),
    ("rose sharply in spring", "fell sharply in spring", "“fell” stands against “rose”"),
    ("a dog", "a cat", "“cat” stands against “dog”"),
    ("Alma Weiss met Otto Brandt", "Otto Brandt met Alma Weiss", "in different ways"),
    ("the harbour master of Emden", "a concert for strings", "“harbour”"),
    ("the clerks", "?!", "no words"),
]


def test_what_cannot_is_denied_with_the_words_at_fault(graded):
    turned = graded([(second, first) for first, second, _ in APART], "phrase")
    for (_, _, named), grade, other in zip(APART, graded(APART, "phrase"), turned, strict=True):
        assert grade.support < 0.5, grade
        assert named in grade.reason
        assert other.support == pytest.approx(grade.support, abs=0.002)


@pytest.mark.parametrize(
    ("first", "second", "least"), [("a tranquil bay", "a calm bay", 0.95), ("the belief", "they believed", 0.97)]
)
def test_what_the_lexicon_relates_is_as_good_as_the_same(
    judge: EmbeddingJudge, first: str, second: str, least: float
) -> None:
    assert judged(judge, first, second).support > least


class TestSentencesAround:
    FIRST = "The harbour office announced on Friday that the ferry to Borkum resumes in May."
    SECOND = "On Friday the port authority said the ferry to Borkum would sail again in May."
    ELSEWHERE = "Bakers in the old town are looking for apprentices who like to get up early."
    PHRASES = ("the harbour office announced on Friday", "the port authority said on Friday")

    def test_they_tell_how_likely_it_is_that_the_phrases_speak_of_the_same(self, judge: EmbeddingJudge) -> None:
        alike = judged(judge, *self.PHRASES, (self.FIRST, self.SECOND))
        apart = judged(judge, *self.PHRASES, (self.FIRST, self.ELSEWHERE))
        assert apart.support < 0.5 <= alike.support
        assert apart.reason

    @pytest.mark.parametrize(
        ("said", "instead"),
        [
            ("Friday", "Monday"),
            ("Two", "Three"),
            ("1987", "1978"),
            ("will open", "will not open"),
            ("increase", "reduce"),
        ],
    )
    def test_like_sentences_do_not_outweigh_a_contradiction(
        self, judge: EmbeddingJudge, said: str, instead: str
    ) -> None:
        sentence = (
            "Two ports said on Friday that the quay built in 1987 will open again in May to increase the number of "
            "ferries to Borkum."
        )
        other = sentence.replace(said, instead)
        for first, second in ((said, instead), (sentence, other)):
            judgement = judged(judge, first, second, (sentence, other))
            assert judgement.support < 0.5, judgement

    def test_equal_phrases_are_equal_anywhere(self, judge: EmbeddingJudge) -> None:
        judgement = judged(judge, "the harbour office", "The harbour office", (self.FIRST, self.ELSEWHERE))
        assert judgement.support == 1.0

    def test_they_tell_the_same_when_they_are_met_again(self, judge: EmbeddingJudge) -> None:
        around = (self.FIRST, self.ELSEWHERE)
        before = judged(judge, *self.PHRASES, around)
        assert judged(judge, *self.PHRASES, around) == before != judged(judge, *self.PHRASES)


@settings(max_examples=12)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_judged_the_same_both_ways(judge: EmbeddingJudge, first: str, second: str) -> None:
    forth, back = judged(judge, first, second), judged(judge, second, first)
    assert 0 <= forth.support <= 1
    assert (forth.support, forth.reason) == (back.support, back.reason)


def test_other_questions_in_the_batch_are_answered_as_alone(judge: EmbeddingJudge) -> None:
    # More words than are looked at of a summary's sentence: text matching compares it whole.
    told = " ".join(f"Crew {n} paints hull {n}." for n in range(100))
    more = f"{told} The dry dock was sold to a museum in Emden."
    batch = [
        Claims("The mill closed in May.", ("The mill closed.", more), "summary"),
        Claims(told, (more,), "entailment"),
        Claims("the old mill", ("the ancient mill", "a new school"), "phrase"),
        Claims("The mill closed in May.", ("In May the mill closed.",), "paraphrase"),
    ]
    together = judge.judge(batch)
    assert [len(grades) for grades in together] == [2, 1, 2, 1]
    for claims, grades in zip(batch, together, strict=True):
        for alone, grade in zip(judge.judge([claims])[0], grades, strict=True):
            assert abs(alone.support - grade.support) < 0.01
