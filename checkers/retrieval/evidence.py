"""The findings about a hit, for a person: a sentence in each verdict, lines about a rejected hit."""

from collections.abc import Iterator, Sequence

from checkers.retrieval.questions import NEEDED
from checkers.wording import labelled
from models.wording import on_a_line
from schemas import RetrievalEvidence, Verdict


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about a rejected hit; none about a verdict that does not reject."""
    if verdict.outcome == "reject" and isinstance(verdict.evidence, RetrievalEvidence):
        yield from labelled("query:  ", f"“{verdict.evidence.query}”")
        yield from labelled("match:  ", f"“{verdict.evidence.matched.text}”")
        yield from labelled("fault:  ", verdict.reason)


def reason_of(evidence: RetrievalEvidence, *, accepted: bool) -> str:
    """The findings, in a sentence or two."""
    parts = [_accepted(evidence) if accepted else _rejected(evidence)]
    better = evidence.better
    if better is not None:
        parts.append(f"Text matching prefers {better.id}: “{on_a_line(better.text)}” ({better.score:.2f}).")
    elif not accepted and evidence.candidates:
        count = len(evidence.candidates)
        parts.append("The other candidate does not fit either." if count == 1 else f"None of {count} others fits.")
    return " ".join(parts)


def _accepted(evidence: RetrievalEvidence) -> str:
    if evidence.is_question:
        return f"The matched text answers the query ({evidence.matched.score:.2f})."
    says = "means the same as" if evidence.store == "cache" else "supports"
    return f"The matched text {says} the query ({evidence.matched.score:.2f})."


def _rejected(evidence: RetrievalEvidence) -> str:
    found = evidence.matched
    failing = [name for name in NEEDED[evidence.store] if getattr(found, name).score < evidence.threshold]
    if evidence.is_question:
        what = "The matched text does not answer the query"
    elif len(failing) == 2:
        what = "The matched text and the query do not follow from each other"
    elif failing == ["text_to_query"]:
        what = "The query does not follow from the matched text"
    else:
        what = "The matched text does not follow from the query"
    why = _worst_reason(evidence, failing)
    return f"{what} ({found.score:.2f}){f'; {why}' if why else ''}."


def _worst_reason(evidence: RetrievalEvidence, failing: Sequence[str]) -> str:
    findings = sorted((getattr(evidence.matched, name) for name in failing), key=lambda one: one.score)
    reasons = [on_a_line(one.reason).rstrip(".") for one in findings if one.reason]
    return reasons[0] if reasons else ""
