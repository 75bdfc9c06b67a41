"""A verdict for a person: outcome, record, score, and for what is rejected what is at fault and why."""

import re
import textwrap
from collections.abc import Iterator

import click

from checkers.equivalence.explanation import evidence_lines
from checkers.wording import plain
from schemas import ConsistencyEvidence, EquivalenceEvidence, Outcome, RetrievalEvidence, SentenceFinding, Verdict

WIDTH = 80
_INDENT = " " * 9
_MOST_FINDINGS = 3
_LONGEST = 400

# Prompts fix how reasons open, so that marks can be read off them; under "fault" it says nothing new.
_OPENING = re.compile(r"This sentence is not consistent with the \w+: ")

_COLOURS: dict[Outcome, str] = {"accept": "green", "reject": "red", "abstain": "yellow"}


def lines(verdict: Verdict) -> Iterator[str]:
    """The verdict in at most 80 columns, styled; the styles are dropped where there is no terminal."""
    score = "    -" if verdict.score is None else f"{verdict.score:5.2f}"
    head = f"{verdict.record_id[:24]:<10} {score}  {verdict.source} / {verdict.model}"
    mark = click.style(f"{verdict.outcome.upper():<7}", fg=_COLOURS[verdict.outcome], bold=True)
    yield f"{mark}  {plain(head)[: WIDTH - len(_INDENT)]}"
    if verdict.outcome == "accept":
        return
    yield from _details(verdict) if verdict.outcome == "reject" else _wrapped("", verdict.reason)


def _details(verdict: Verdict) -> Iterator[str]:
    match verdict.evidence:
        case ConsistencyEvidence() as evidence if faults := [found for found in evidence.sentences if found.mark < 0]:
            yield from _sentences(faults)
        case RetrievalEvidence() as evidence:
            yield from _hit(evidence, verdict.reason)
        case EquivalenceEvidence() as evidence:
            yield from _wrapped("", verdict.reason)
            yield from evidence_lines(evidence, _INDENT)
        case _:
            yield from _wrapped("", verdict.reason)


def _sentences(faults: list[SentenceFinding]) -> Iterator[str]:
    for finding in faults[:_MOST_FINDINGS]:
        yield from _wrapped("says:   ", f"“{finding.text}”", bold=True)
        yield from _wrapped("fault:  ", _OPENING.sub("", finding.reason))
        if finding.passage:
            yield from _wrapped("source: ", f"“{finding.passage}”")
    if len(faults) > _MOST_FINDINGS:
        yield f"{_INDENT}and {len(faults) - _MOST_FINDINGS} more"


def _hit(evidence: RetrievalEvidence, reason: str) -> Iterator[str]:
    yield from _wrapped("query:  ", f"“{evidence.query}”")
    yield from _wrapped("match:  ", f"“{evidence.matched.text}”", bold=True)
    yield from _wrapped("fault:  ", reason)


def _wrapped(label: str, text: str, *, bold: bool = False) -> Iterator[str]:
    shown = textwrap.wrap(
        textwrap.shorten(plain(text), _LONGEST, placeholder=" …"),
        WIDTH,
        initial_indent=_INDENT + label,
        subsequent_indent=_INDENT + " " * len(label),
    )
    for line in shown:
        yield click.style(line, bold=True) if bold else line
