"""Rubrics: the criteria of a labelling task, written by users in a file (docs/rubrics.md)."""

from checkers.labelling.rubric.faults import RubricError
from checkers.labelling.rubric.judge import (
    CriterionJudge,
    CriterionReply,
    NoJudge,
    OracleJudge,
    criterion_question,
)
from checkers.labelling.rubric.rubric import Criterion, Relevance, Rubric, load_rubric, parse_rubric

__all__ = [
    "Criterion",
    "CriterionJudge",
    "CriterionReply",
    "NoJudge",
    "OracleJudge",
    "Relevance",
    "Rubric",
    "RubricError",
    "criterion_question",
    "load_rubric",
    "parse_rubric",
]
