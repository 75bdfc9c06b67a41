"""Games as evidence, and in a sentence for a person."""

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import JsonValue

from checkers.labelling.protocol import Game, LabellingProblem
from checkers.labelling.rubric import Rubric, shown
from models.wording import on_a_line
from schemas import LabellingEvidence, LabellingRound, LabellingRun
from schemas.evidence import Label

_NAMED = 3
_LABELS = 20

_CHALLENGES = {"permutation": "equality up to permutation", "isomorphism": "equality up to isomorphism"}


def run_of(rubric: Rubric, game: Game) -> LabellingRun:
    """A game under `rubric`, as it is in a verdict."""
    return LabellingRun(
        rubric=rubric.name,
        rubric_version=rubric.version,
        criteria=tuple(criterion.name for criterion in rubric.criteria),
        total_criteria=tuple(criterion.name for criterion in rubric.total),
        labels=(rubric.labels[0], rubric.labels[1]),
        rounds=tuple(
            LabellingRound(
                number=one.number,
                similar=one.proposal.similar,
                label=rubric.labels[one.proposal.bit],
                commitment=one.commitment,
                challenge=one.challenge,
                passed=one.finding.passed,
                **asdict(one.finding),
            )
            for one in game.rounds
        ),
        succeeded=game.succeeded,
        holds=game.rounds[-1].proposal.holds,
        encoding=game.encoding,
        follows=None if game.follows is None else rubric.labels[game.follows],
    )


def unknown_label(rubric: str, label: Label, problem: LabellingProblem) -> str:
    """Why nothing can be decided about a label that the problem does not have; `rubric` is the user's name for it."""
    allowed = ", ".join(map(_cut, problem.labels[:_LABELS]))
    return f"the rubric {rubric!r} does not know the label {_cut(label)!r}; allowed are {allowed}"


def reason_of(evidence: LabellingEvidence) -> str:
    """The verdict's reason, in a sentence or two."""
    failed = [(run, run.rounds[-1]) for run in evidence.runs if not run.succeeded]
    if failed:
        run, last = failed[0]
        return (
            f"Failed in round {last.number} of {evidence.rounds} ({_CHALLENGES[last.challenge]}): {_fault(run, last)}"
        )
    passed = "the challenge" if evidence.rounds == 1 else f"all {evidence.rounds} challenges"
    for run in evidence.runs if evidence.unfounded else ():
        if told := _unfounded(run):
            return f"The labeller passed {passed}, but does not know why: {told}."
    if not evidence.contradicted:
        return f"The labeller passed {passed} and stands by its label {_cut(evidence.claimed)}."
    return (
        f"The labeller passed {passed}, but the record says otherwise: "
        f"{_cut(evidence.claimed)}, where the labeller now says {_cut(evidence.revealed)}."
    )


def _unfounded(run: LabellingRun) -> str:
    """Tell what is wrong with a labeller's reasons or with the label that it makes of them; empty if nothing is."""
    wrong = [one for one, a, b in zip(run.criteria, run.holds or (), run.encoding or (), strict=False) if a != b]
    if wrong:
        return f"its reasons are wrong about {', '.join(wrong[:_NAMED])}{' and others' if wrong[_NAMED:] else ''}"
    if run.follows is not None and run.follows != run.rounds[-1].label:
        return f"its reasons make the label {_cut(run.follows)}, and it says {_cut(run.rounds[-1].label)}"
    return ""


def _fault(run: LabellingRun, last: LabellingRound) -> str:
    if last.fault == "echo":
        return "the datapoint that was to be like the given one is the given one."
    names = run.criteria if last.challenge == "isomorphism" else run.total_criteria
    apart = _apart(names, last.encoding, last.similar_encoding)
    if last.fault == "unmatched_part":
        return f"no part of “{_cut(last.similar)}” is like “{_cut(last.unmatched)}”; as wholes they differ in {apart}."
    return f"“{_cut(last.similar)}” is not like the datapoint in {apart}."


def _apart(names: Sequence[str], first: Sequence[int], second: Sequence[int]) -> str:
    differing = [f"{name} ({a} there, {b} here)" for name, a, b in zip(names, first, second, strict=True) if a != b]
    more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
    return ", ".join(differing[:_NAMED]) + more or "nothing"


def _cut(value: JsonValue) -> str:
    return on_a_line(shown(value))
