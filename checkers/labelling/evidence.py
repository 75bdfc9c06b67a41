"""The verdict in a sentence for a person."""

from pydantic import JsonValue

from checkers.labelling.rubric import shown
from models.wording import on_a_line
from schemas import LabellingEvidence
from schemas.evidence import LabellingRound, LabellingRun

_NAMED = 3


def reason_of(evidence: LabellingEvidence) -> str:
    """The verdict's reason, in a sentence or two."""
    failed = [(run, run.rounds[-1]) for run in evidence.runs if not run.succeeded]
    if failed:
        run, last = failed[0]
        challenge = f"equality up to {last.challenge}"
        return f"Failed in round {last.number} of {evidence.rounds} ({challenge}): {_fault(run, last)}"
    passed = "the challenge" if evidence.rounds == 1 else f"all {evidence.rounds} challenges"
    for run in evidence.runs if evidence.unfounded else ():
        if told := _unfounded(run):
            return f"The labeller passed {passed}, but does not know why: {told}."
    if not evidence.contradicted:
        return f"The labeller passed {passed} and stands by its label {cut(evidence.claimed)}."
    apart = f"{cut(evidence.claimed)}, where the labeller now says {cut(evidence.revealed)}"
    return f"The labeller passed {passed}, but the record says otherwise: {apart}."


def _unfounded(run: LabellingRun) -> str:
    """Tell what is wrong with a labeller's reasons or with the label that it makes of them; empty if nothing is."""
    wrong = [one for one, a, b in zip(run.criteria, run.holds or (), run.encoding or (), strict=False) if a != b]
    if wrong:
        return f"its reasons are wrong about {', '.join(wrong[:_NAMED])}{' and others' if wrong[_NAMED:] else ''}"
    if run.follows is not None and run.follows != run.rounds[-1].label:
        return f"its reasons make the label {cut(run.follows)}, and it says {cut(run.rounds[-1].label)}"
    return ""


def _fault(run: LabellingRun, last: LabellingRound) -> str:
    if last.fault == "echo":
        return "the labeller copied the datapoint, and was to make another one like it."
    names = run.criteria if last.challenge == "isomorphism" else run.total_criteria
    bits = zip(names, last.encoding, last.similar_encoding, strict=True)
    differing = [f"{name} (the datapoint has {a}, this one {b})" for name, a, b in bits if a != b]
    more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
    apart = ", ".join(differing[:_NAMED]) + more or "nothing"
    if last.fault == "unmatched_part":
        return f"no part of “{cut(last.similar)}” is like “{cut(last.unmatched)}”; as wholes they differ in {apart}."
    return f"“{cut(last.similar)}” is not like the datapoint in {apart}."


def cut(value: JsonValue) -> str:
    """A value on a line, shortened."""
    return on_a_line(shown(value))
