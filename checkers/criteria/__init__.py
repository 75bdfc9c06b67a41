"""Criteria in a user's own words: each section `[criteria.NAME]` is a checker."""

from checkers.criteria.checker import criterion_named
from checkers.criteria.explanation import explain
from checkers.criteria.settings import CriterionSettings
from checkers.criteria.trial import tried
from checkers.plugin import CheckerFamily, CheckerPlugin


def _plugin(name: str, settings: CriterionSettings) -> CheckerPlugin:
    return CheckerPlugin(checker=criterion_named(name, settings), explain=explain, stand_ins=None)


FAMILY = CheckerFamily(section="criteria", settings=CriterionSettings, plugin=_plugin, tried=tried)
