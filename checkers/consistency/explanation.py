"""A rejected response for a person: the sentences at fault, why, and the passages that decided."""

from collections.abc import Iterator

from checkers.wording import labelled
from schemas import ConsistencyEvidence, Verdict

_MOST_FINDINGS = 3


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about the first sentences that are not consistent; none about a verdict that does not reject."""
    if verdict.outcome != "reject" or not isinstance(verdict.evidence, ConsistencyEvidence):
        return
    faults = [found for found in verdict.evidence.sentences if found.mark < 0]
    for finding in faults[:_MOST_FINDINGS]:
        yield from labelled("says:   ", f"“{finding.text}”")
        yield from labelled("fault:  ", finding.reason)
        if finding.passage and finding.passage not in finding.reason:
            yield from labelled("source: ", f"“{finding.passage}”")
    if len(faults) > _MOST_FINDINGS:
        yield f"and {len(faults) - _MOST_FINDINGS} more"
