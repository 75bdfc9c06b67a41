"""Entity extraction: the linearity test."""

from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.evidence import verdict_lines
from checkers.extraction.extractors import stand_ins
from checkers.extraction.questions import form_cases
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(checker=ExtractionChecker, explain=verdict_lines, stand_ins=stand_ins, form_cases=form_cases)
