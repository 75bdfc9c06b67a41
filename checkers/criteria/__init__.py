"""Criteria in a user's own words: each section `[criteria.NAME]` is a checker."""

from checkers.criteria.checker import CriterionChecker
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(checker=CriterionChecker, many=True, stand_ins=None)
