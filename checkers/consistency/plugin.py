"""How the front door finds this checker; imports nothing that building it would."""

from typing import TYPE_CHECKING, Any

from checkers.checker import CheckerPlugin, Models
from checkers.consistency.settings import ConsistencySettings

if TYPE_CHECKING:
    from checkers.consistency.checker import ConsistencyChecker


def _build(settings: Any, models: Models) -> "ConsistencyChecker":
    from checkers.consistency.checker import ConsistencyChecker

    return ConsistencyChecker(settings, models.judge)


PLUGIN = CheckerPlugin(name="consistency", kinds=frozenset({"generation"}), settings=ConsistencySettings, build=_build)
