"""What a judge that grades comes to."""

from checkers.consistency.converter import mark_of_opening
from checkers.consistency.evaluator import DivideConquerEvaluator
from checkers.consistency.questions import CheckedResponse, ConsistencyQuestions
from tests.support.graders import grading


async def test_grades_come_to_a_reason_a_sentence_that_opens_as_one_in_words_would() -> None:
    sentences = ("The board met on Monday.", "It approved nothing.")
    judge = grading(lambda reference, sentence: 0.9 if "met" in sentence else 0.1)
    evaluator = DivideConquerEvaluator(judge, ConsistencyQuestions(), calls="one")

    evaluation = await evaluator.sentences(
        CheckedResponse("summary", "The board met.", " ".join(sentences), None), sentences
    )

    assert [mark_of_opening(entry.reasons[0]) for entry in evaluation.entries] == [1, -1]
    assert "compared" in evaluation.entries[1].reasons[0]
    assert not evaluation.is_consistent
