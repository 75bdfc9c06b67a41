"""Trust in labels without reference labels: the No-Data Algorithm."""

from checkers.labelling.checker import LabellingChecker
from checkers.labelling.questions import form_cases
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(checker=LabellingChecker, stand_ins=None, form_cases=form_cases)
