"""What a judge that grades answers to DCE's question."""

from checkers.consistency.converter import mark_of_opening
from checkers.consistency.questions import Material, Questions
from checkers.oracle.claims import Judgement


def test_grades_come_to_a_reason_a_sentence_that_opens_as_one_in_words_would() -> None:
    sentences = ("The board met on Monday.", "It approved nothing.")
    question = Questions().about_sentences(Material("summary", "The board met.", " ".join(sentences), None), sentences)
    assert question.from_grades is not None
    reply = question.from_grades([Judgement(0.9, "it says so", None), Judgement(0.1, "it approved two", None)])
    assert [entry.sentence for entry in reply.reason] == [*sentences]
    assert [mark_of_opening(entry.reason) for entry in reply.reason] == [1, -1]
    assert "it approved two" in reply.reason[1].reason
    assert not reply.is_consistent
