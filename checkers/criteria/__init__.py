"""Criteria in a user's own words: each section `[criteria.NAME]` is a checker."""

from collections.abc import Callable

from checkers.criteria.checker import CriterionChecker, criterion_named
from checkers.criteria.explanation import explain
from checkers.criteria.settings import CriterionSettings
from checkers.plugin import CheckerFamily, CheckerPlugin, Trial


def _plugin(name: str, settings: CriterionSettings) -> CheckerPlugin:
    return CheckerPlugin(checker=criterion_named(name, settings), explain=explain, stand_ins=None)


async def _tried(checker: CriterionChecker, on_answer: Callable[[], None]) -> Trial:
    # It imports the self-test, which no other command needs.
    from checkers.criteria.trial import tried

    return await tried(checker, on_answer)


FAMILY = CheckerFamily(section="criteria", settings=CriterionSettings, plugin=_plugin, tried=_tried)
