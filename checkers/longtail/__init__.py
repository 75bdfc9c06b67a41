"""Long-tail probes: statements made from logic rules (LINK), and asked of a deployed model (LINT)."""

from checkers.longtail.checker import LongtailChecker
from checkers.plugin import CheckerPlugin

PLUGIN = CheckerPlugin(checker=LongtailChecker, commands={"probes": "checkers.longtail.commands:probes"})
