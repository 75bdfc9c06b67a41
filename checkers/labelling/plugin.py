"""How the front door finds this checker; imports nothing that building it would."""

from typing import TYPE_CHECKING, Any

from checkers.checker import CheckerPlugin, Models
from checkers.labelling.settings import LabellingSettings

if TYPE_CHECKING:
    from checkers.labelling.checker import LabellingChecker


def _build(settings: Any, models: Models) -> "LabellingChecker":
    from checkers.labelling.checker import LabellingChecker

    return LabellingChecker(settings, models)


PLUGIN = CheckerPlugin(name="labelling", kinds=frozenset({"labelling"}), settings=LabellingSettings, build=_build)
