"""How a stored text and a query stand to each other."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["text_to_query", "query_to_text"]

NEEDED: dict[str, tuple[Direction, ...]] = {
    "cache": ("text_to_query", "query_to_text"),
    "knowledge": ("text_to_query",),
}
"""By store: a cache must match the same question; for a knowledge store it is enough that the text entails the query,
the order that exposes deletions and missing evidence."""


@dataclass(frozen=True, slots=True)
class Entailment:
    """One direction."""

    score: float
    """0 to 1."""
    reason: str | None
    """In words, from a matcher that gives some."""
    passage: str | None = None
    """The passage that decided, where the matcher names one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both directions."""

    text_to_query: Entailment
    """Does the stored text entail the query?"""
    query_to_text: Entailment

    def score(self, store: str) -> float:
        """The lowest of the directions that `store` needs."""
        scores: dict[Direction, float] = {
            "text_to_query": self.text_to_query.score,
            "query_to_text": self.query_to_text.score,
        }
        return min(scores[name] for name in NEEDED[store])


IDENTICAL = Comparison(Entailment(1.0, "both texts are the same"), Entailment(1.0, "both texts are the same"))
"""Of a text and itself: nobody needs to be asked."""
