"""Semantic equivalence: a proof for yes, a test for no."""

from checkers.equivalence.checker import EquivalenceChecker
from checkers.equivalence.evidence import verdict_lines
from checkers.equivalence.questions import form_cases
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(checker=EquivalenceChecker, explain=verdict_lines, form_cases=form_cases)
