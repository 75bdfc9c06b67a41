"""The fault of a verdict in a few words, which verdicts with the same fault have in common."""

from schemas import (
    Abstention,
    ConsistencyEvidence,
    CriterionEvidence,
    EquivalenceEvidence,
    ExtractionEvidence,
    LabellingEvidence,
    ProbeEvidence,
    RetrievalEvidence,
    ToolCallEvidence,
    Verdict,
)

_CHARACTERS = 160


def fault_of(verdict: Verdict) -> str | None:
    """The cause where a checker abstained; None of an accepted verdict, and where the evidence names no fault."""
    named = None if verdict.outcome == "accept" else _named(verdict)
    return " ".join(named.split())[:_CHARACTERS] if named else None


def _named(verdict: Verdict) -> str | None:
    found: str | None = None
    match verdict.evidence:
        case Abstention(cause=cause):
            found = cause
        case ConsistencyEvidence(sentences=sentences) if sentences:
            # Answers that contradict the same passage share a fault, however they put it.
            worst = min(sentences, key=lambda one: (one.mark, one.support))
            earlier = worst.contradicts and "an earlier answer of the session is contradicted"
            found = earlier or worst.passage or "no source supports it"
        case CriterionEvidence(quote=quote, ask=ask):
            found = quote or ask
        case ToolCallEvidence(tool=tool, fault=fault, findings=findings):
            # The same argument of the same tool goes wrong again, whatever its value.
            found = f"{tool}: {next((one.name for one in findings if one.finding == 'unsupported'), fault)}"
        case RetrievalEvidence(matched=matched):
            # A stored text that is found for what it does not fit will be found again.
            found = matched.text
        case ExtractionEvidence(causes=causes) if causes:
            found = causes[0].kind
        case EquivalenceEvidence(answer=is_yes, proof=proof):
            denied = any(one.outcome == "denied" for one in proof.alignments)
            found = ("denied" if denied else "uncovered") if is_yes else "contradiction"
        case LabellingEvidence(runs=runs, unfounded=unfounded):
            failed = (one.fault for run in runs for one in run.rounds if one.fault)
            found = next(failed, "unfounded" if unfounded else "contradicted")
        case ProbeEvidence(expected=expected):
            found = f"expected {expected}"
    return found
