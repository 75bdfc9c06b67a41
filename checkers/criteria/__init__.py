"""Criteria in a user's own words: each section `[criteria.NAME]` is a checker."""

from checkers.criteria.checker import CriterionChecker, criterion_named
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(checker=CriterionChecker, named=criterion_named, stand_ins=None)
