"""The judge of this process that the settings ask for."""

import structlog

from models.local_grader import ClaimModel, LocalGrader
from models.local_settings import BUNDLED_JUDGE, LocalSettings

_LOG = structlog.get_logger(__name__)


def local_judge(settings: LocalSettings) -> LocalGrader:
    """The judge that needs no endpoint. Raises ImportError if its packages are not installed."""
    if settings.judge != BUNDLED_JUDGE:
        from models.grounding.grader import named_grader

        return named_grader(settings, say=lambda message: _LOG.info("local judge", detail=message))
    from models.local.judge import BundledJudge

    judge = BundledJudge()

    def load() -> ClaimModel:
        judge.load()
        return judge

    return LocalGrader(judge.name, load, called="the local judge")
