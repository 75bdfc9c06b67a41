"""How the front door finds this checker; imports nothing that building it would."""

from typing import TYPE_CHECKING, Any

from checkers.checker import CheckerPlugin, Models
from checkers.retrieval.settings import RetrievalSettings

if TYPE_CHECKING:
    from checkers.retrieval.checker import RetrievalChecker


def _build(settings: Any, models: Models) -> "RetrievalChecker":
    from checkers.retrieval.checker import RetrievalChecker

    return RetrievalChecker(settings, models.judge)


PLUGIN = CheckerPlugin(name="retrieval", kinds=frozenset({"retrieval"}), settings=RetrievalSettings, build=_build)
