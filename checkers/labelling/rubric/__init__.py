"""Rubrics: the criteria of a labelling task, written by users in a file (docs/rubrics.md)."""

from checkers.labelling.rubric.condition import CriterionJudge, no_judge
from checkers.labelling.rubric.reading import RubricError
from checkers.labelling.rubric.rubric import Criterion, Rubric, load_rubric, parse_rubric

__all__ = ["Criterion", "CriterionJudge", "Rubric", "RubricError", "load_rubric", "no_judge", "parse_rubric"]
