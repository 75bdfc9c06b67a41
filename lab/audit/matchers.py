"""The audit of a text matcher, in both orders: how often the positive scores above the negative (section 4)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from checkers.retrieval.matching import BothDirections, TextMatcher
from lab.audit.cases import KINDS, Case, Count, Distances, Figure, Kind, case
from lab.triplets import Triplet

ORDERS: Mapping[str, Callable[[BothDirections], float]] = {
    "base_to_text": lambda found: found.query_to_text.score,
    "text_to_base": lambda found: found.text_to_query.score,
    "both": lambda found: min(found.query_to_text.score, found.text_to_query.score),
}
"""By name, the score that is compared; they stand where metrics stand for vectors. The distance is 1 less the score."""


@dataclass(frozen=True, slots=True)
class TripletMatch:
    """What a matcher said of the texts of one triplet."""

    cases: Mapping[Kind, Case]
    found: Mapping[str, BothDirections]
    """By text, between the base and it."""


async def match_triplet(matcher: TextMatcher, triplets: Sequence[Triplet], place: int) -> TripletMatch:
    """The base of the triplet at `place` against its texts, each once, as in the live check for a knowledge store.

    Raises:
        OracleFailed: the matcher gave no usable answer.
        OracleUnavailable: its endpoint is down, or its model is still being loaded.
    """
    cases = {kind: one for kind in KINDS if (one := case(triplets, place, kind)) is not None}
    texts = list(dict.fromkeys(text for one in cases.values() for text in (one.positive, one.negative)))
    found = await matcher.compare("knowledge", triplets[place].base, texts)
    return TripletMatch(cases, dict(zip(texts, found, strict=True)))


def matcher_figures(subject: str, relation: str, matches: Sequence[TripletMatch]) -> Iterator[Figure]:
    """A figure for each order, of one triplet at least."""
    for name, order in ORDERS.items():
        scored = {
            kind: [
                (order(match.found[one.positive]), order(match.found[one.negative]))
                for match in matches
                if (one := match.cases.get(kind)) is not None
            ]
            for kind in KINDS
        }
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
