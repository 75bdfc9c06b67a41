"""Which beams are kept: the least likely for the tail, the likeliest for the head, or a random choice (LINK, 2.3)."""

import math
from collections.abc import Sequence
from typing import Protocol

from checkers.draws import seed_of, uniform
from checkers.longtail.corpus import Distribution
from checkers.longtail.settings import LinkSettings
from lab.link.models import SearchModels


class Reranker(Protocol):
    """Puts sentences into the order in which they are kept."""

    async def order(self, sentences: Sequence[str], distribution: Distribution) -> list[int]:
        """Their places, the best for this distribution first; equal ones stay in their order."""


class LikelihoodReranker:
    """By the scorer's log-likelihood."""

    def __init__(self, models: SearchModels) -> None:
        self._models = models

    async def order(self, sentences: Sequence[str], distribution: Distribution) -> list[int]:
        """The least likely first for the tail, the likeliest for the head."""
        likelihoods = await self._models.log_likelihoods(sentences)
        sign = 1 if distribution == "tail" else -1
        return sorted(range(len(sentences)), key=lambda place: sign * likelihoods[place])


class RandomReranker:
    """Shows what the reranker is good for: without it, head and tail are the same."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    async def order(self, sentences: Sequence[str], distribution: Distribution) -> list[int]:
        """At random, by the seed."""
        seed = seed_of(self._seed, distribution)
        return sorted(range(len(sentences)), key=lambda place: uniform(seed, sentences[place]))


def kept(count: int, settings: LinkSettings) -> int:
    """How many of so many beams go on."""
    return settings.beams if count > settings.beams else math.ceil(settings.keep * count)
