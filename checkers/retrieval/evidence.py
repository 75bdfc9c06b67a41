"""The findings about a hit, for a person: a sentence in each verdict, lines about a rejected hit."""

from collections.abc import Iterator

from checkers.retrieval.questions import NEEDED
from checkers.wording import labelled
from models.wording import counted, on_a_line
from schemas import RetrievalEvidence, Verdict

_REASON = 240  # characters of a finding's reason, with who matched the texts


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about a rejected hit; none about a verdict that does not reject."""
    if verdict.outcome == "reject" and isinstance(verdict.evidence, RetrievalEvidence):
        yield from labelled("query:  ", f"“{verdict.evidence.query}”")
        yield from labelled("match:  ", f"“{verdict.evidence.matched.text}”")
        yield from labelled("fault:  ", verdict.reason)


def reason_of(evidence: RetrievalEvidence, *, accepted: bool) -> str:
    """The findings, in a sentence or two."""
    found, better, others = evidence.matched, evidence.better, len(evidence.candidates)
    failing = tuple(name for name in NEEDED[evidence.store] if getattr(found, name).score < evidence.threshold)
    why = ""
    if accepted:
        says = "means the same as" if evidence.store == "cache" else "supports"
        what = f"The matched text {'answers' if evidence.is_question else says} the query"
    else:
        findings = sorted((getattr(found, name) for name in failing), key=lambda one: one.score)
        why = next((f"; {on_a_line(one.reason, _REASON).rstrip('.')}" for one in findings if one.reason), "")
        what = {
            (): "The matched text does not answer the query",
            ("text_to_query",): "The query does not follow from the matched text",
            ("query_to_text",): "The matched text does not follow from the query",
        }.get(() if evidence.is_question else failing, "The matched text and the query do not follow from each other")
    said = f"{what} ({found.score:.2f}){why}."
    if better is not None:
        return f"{said} Text matching prefers {better.id}: “{on_a_line(better.text)}” ({better.score:.2f})."
    return said if accepted or not others else f"{said} Nothing among {counted(others, 'other candidate')} fits."
