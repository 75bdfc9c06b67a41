"""Rubrics: the criteria of a labelling task, written by users in a file (docs/rubrics.md)."""

from checkers.labelling.rubric.asking import Asking, CriterionReply, criterion_question, criterion_template
from checkers.labelling.rubric.faults import RubricError
from checkers.labelling.rubric.loading import load_rubric, parse_rubric
from checkers.labelling.rubric.rubric import Criterion, Relevance, Rubric

__all__ = [
    "Asking",
    "Criterion",
    "CriterionReply",
    "Relevance",
    "Rubric",
    "RubricError",
    "criterion_question",
    "criterion_template",
    "load_rubric",
    "parse_rubric",
]
