"""The verdicts of a judge that grades."""

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from schemas import ConsistencyEvidence
from tests.checkers.consistency.conftest import generation
from tests.support.graders import grading


async def test_grades_are_the_marks_and_nothing_is_converted() -> None:
    judge = grading(lambda reference, sentence: 0.9 if "met" in sentence else 0.1)
    for settings in ({}, {"marks_from": "reasons"}):
        checker = ConsistencyChecker(ConsistencySettings(**settings), Models(judge=judge))
        verdict = await checker.check(generation("The board met on Monday. It approved nothing."))
        evidence = verdict.evidence
        assert isinstance(evidence, ConsistencyEvidence)
        assert [(one.mark, one.support, one.converted) for one in evidence.sentences] == [
            (1, 0.9, "graded"),
            (-1, 0.1, "graded"),
        ]
        assert evidence.sentences[1].reason == "This sentence is not consistent with the reference: compared"
        assert (verdict.score, evidence.score_is, evidence.is_consistent) == (0.34, "graded", False)
