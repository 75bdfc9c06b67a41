"""The audit of a text matcher, in both orders: how often the positive scores above the negative (section 4)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from checkers.oracle.protocol import Oracle
from checkers.retrieval.audit.cases import KINDS, Case, Count, Distances, Figure, Kind, case
from checkers.retrieval.matching.comparison import Comparison
from checkers.retrieval.matching.matcher import Matcher
from checkers.retrieval.questions import Questions
from checkers.retrieval.triplets import Triplet

ORDERS: Mapping[str, Callable[[Comparison], float]] = {
    "base_to_text": lambda found: found.query_to_text.score,
    "text_to_base": lambda found: found.text_to_query.score,
    "both": lambda found: min(found.query_to_text.score, found.text_to_query.score),
}
"""By name, the score that is compared; they stand where metrics stand for vectors. The distance is 1 less the score."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What a matcher said of the texts of one triplet."""

    cases: Mapping[Kind, Case]
    comparisons: Mapping[str, Comparison]
    """By text, between the base and it."""

    def scores(self, kind: Kind, order: Callable[[Comparison], float]) -> tuple[float, float] | None:
        """Of positive and negative; None where there is no such case."""
        found = self.cases.get(kind)
        if found is None:
            return None
        return order(self.comparisons[found.positive]), order(self.comparisons[found.negative])


class TextMatcher:
    """Compares the texts of triplets as the live check would, for a knowledge store."""

    def __init__(self, oracle: Oracle, questions: Questions | None = None) -> None:
        self._matcher = Matcher(oracle, questions or Questions())

    async def matched(self, triplets: Sequence[Triplet], place: int) -> Matched:
        """The base of the triplet at `place` against its texts, each once.

        Raises:
            OracleFailed: whoever is asked gave no usable answer.
            OracleUnavailable: its endpoint is down, or its model still being loaded.
        """
        found = {kind: one for kind in KINDS if (one := case(triplets, place, kind)) is not None}
        texts = list(dict.fromkeys(text for one in found.values() for text in (one.positive, one.negative)))
        comparisons = await self._matcher.compare("knowledge", triplets[place].base, texts)
        return Matched(found, dict(zip(texts, comparisons, strict=True)))


def matcher_figures(subject: str, relation: str, found: Sequence[Matched]) -> Iterator[Figure]:
    """A figure for each order, of one triplet at least."""
    for name, order in ORDERS.items():
        scored = {kind: [pair for one in found if (pair := one.scores(kind, order)) is not None] for kind in KINDS}
        away = [(1 - positive, 1 - negative) for positive, negative in scored["triplet"]]
        both = [distance for pair in away for distance in pair]
        yield Figure(
            subject=subject,
            metric=name,
            relation=relation,
            counts={kind: _count(pairs) for kind, pairs in scored.items() if pairs},
            distances=Distances(fmean(one for one, _ in away), fmean(one for _, one in away), min(both), max(both)),
        )


def _count(pairs: Sequence[tuple[float, float]]) -> Count:
    return Count(
        cases=len(pairs),
        right=sum(positive > negative for positive, negative in pairs),
        ties=sum(positive == negative for positive, negative in pairs),
    )
