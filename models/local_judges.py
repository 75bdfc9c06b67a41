"""The judges of this process: the bundled one, and those that are downloaded by name."""

from collections.abc import Callable

import structlog

from models.local_grader import LocalGrader
from models.local_settings import BUNDLED_JUDGE, LocalSettings
from models.protocol import Claims

_LOG = structlog.get_logger(__name__)


def local_judge(settings: LocalSettings) -> LocalGrader:
    """The judge that needs no endpoint. Raises ImportError if its packages are not installed."""
    if settings.judge == BUNDLED_JUDGE:
        from models.local.judge import BundledJudge

        return LocalGrader(BundledJudge(), called="the local judge")
    from models.grounding.catalogue import named_judge
    from models.grounding.judge import BATCH_CHARACTERS, GroundingJudge

    judge = GroundingJudge(named_judge(settings.judge), say=lambda message: _LOG.info("local judge", detail=message))
    called = f"the local judge {settings.judge}"
    return LocalGrader(judge, called=called, size_of=_characters, batch_size=BATCH_CHARACTERS)


def fetch(settings: LocalSettings, say: Callable[[str], None]) -> None:
    """Download what a judge with a name needs and this machine does not keep.

    Raises:
        ModelUnusable: it cannot be downloaded.
    """
    from models.grounding.catalogue import named_judge
    from models.grounding.hub import fetched

    named = named_judge(settings.judge)
    for source in (named.weights, named.config):
        if source is not None:
            fetched(source, say)


def _characters(claims: Claims) -> int:
    """The texts to read: the reference with each sentence."""
    return len(claims.reference) * len(claims.sentences) + sum(map(len, claims.sentences))
