"""A rejected hit for a person: what was asked, what the store returned, and how they differ."""

from collections.abc import Iterator

from checkers.wording import labelled
from schemas import RetrievalEvidence, Verdict


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about a rejected hit; none about a verdict that does not reject."""
    if verdict.outcome == "reject" and isinstance(verdict.evidence, RetrievalEvidence):
        yield from labelled("query:  ", f"“{verdict.evidence.query}”")
        yield from labelled("match:  ", f"“{verdict.evidence.matched.text}”")
        yield from labelled("fault:  ", verdict.reason)
