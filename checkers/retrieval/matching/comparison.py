"""How a stored text and a query stand to each other."""

from dataclasses import dataclass
from typing import Literal

from schemas import DirectionFinding

Direction = Literal["text_to_query", "query_to_text"]

NEEDED: dict[str, tuple[Direction, ...]] = {
    "cache": ("text_to_query", "query_to_text"),
    "knowledge": ("text_to_query",),
}
"""By store: a cache must match the same question; for a knowledge store it is enough that the text entails the query,
the order that exposes deletions and missing evidence."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both directions."""

    text_to_query: DirectionFinding
    """Does the stored text entail the query?"""
    query_to_text: DirectionFinding

    def score(self, store: str) -> float:
        """The lowest of the directions that `store` needs."""
        scores: dict[Direction, float] = {
            "text_to_query": self.text_to_query.score,
            "query_to_text": self.query_to_text.score,
        }
        return min(scores[name] for name in NEEDED[store])


_SAME = DirectionFinding(score=1.0, reason="both texts are the same")

IDENTICAL = Comparison(_SAME, _SAME)
"""Of a text and itself: nobody needs to be asked."""
