"""The local judge that the settings name, with the models that it is made of."""

from models.claims import Claims
from models.grounding.catalogue import named_judge
from models.grounding.hub import Say, Source, fetched
from models.grounding.judge import GroundingJudge
from models.grounding.pairs import BATCH_TOKENS
from models.local_grader import ClaimModel, LocalGrader
from models.local_settings import LocalSettings

_BATCH_CHARACTERS = 8 * 4 * BATCH_TOKENS
"""Size of a batch of entries, about eight forward passes on a processor: enough that texts of like length meet, and few
enough that those that arrive meanwhile do not wait long."""


def named_grader(settings: LocalSettings, *, say: Say) -> LocalGrader:
    """The named judge; `say` is told about downloads, on the thread that loads."""
    judge = GroundingJudge(named_judge(settings.judge), say=say)

    def load() -> ClaimModel:
        judge.load()
        return judge

    return LocalGrader(
        judge.name,
        load,
        called=f"the local judge {settings.judge}",
        size_of=_characters,
        batch_size=_BATCH_CHARACTERS,
    )


def sources_of(settings: LocalSettings) -> list[Source]:
    """The model that has to be downloaded before the judge can be used."""
    named = named_judge(settings.judge)
    return [source for source in (named.weights, named.config) if source is not None]


def fetch(settings: LocalSettings, say: Say) -> None:
    """Download what the judge needs and this machine does not keep.

    Raises:
        ModelUnusable: it cannot be downloaded.
    """
    for source in sources_of(settings):
        fetched(source, say)


def _characters(claims: Claims) -> int:
    """The texts to read: the reference with each sentence."""
    return len(claims.reference) * len(claims.sentences) + sum(map(len, claims.sentences))
