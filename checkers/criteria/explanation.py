"""A rejected response for a person: the question, and the words at fault."""

from collections.abc import Iterator

from checkers.wording import labelled
from schemas import CriterionEvidence, Verdict


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about a rejection; none about a verdict that does not reject."""
    if verdict.outcome == "reject" and isinstance(verdict.evidence, CriterionEvidence):
        if verdict.evidence.quote:
            yield from labelled("says:   ", f"“{verdict.evidence.quote.text}”")
        yield from labelled("fault:  ", f"{verdict.evidence.ask} {verdict.evidence.reject_if.capitalize()}.")
