"""How the front door finds this checker; imports nothing that building it would."""

from typing import TYPE_CHECKING, Any

from checkers.checker import CheckerPlugin, Models
from checkers.equivalence.settings import EquivalenceSettings

if TYPE_CHECKING:
    from checkers.equivalence.checker import EquivalenceChecker


def _build(settings: Any, models: Models) -> "EquivalenceChecker":
    from checkers.equivalence.checker import EquivalenceChecker

    return EquivalenceChecker(settings, models)


PLUGIN = CheckerPlugin(name="equivalence", kinds=frozenset({"paraphrase"}), settings=EquivalenceSettings, build=_build)
