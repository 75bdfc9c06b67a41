"""What the rejects of one series have in common, read from the store: bounded samples of rejects and of accepts.

As `store.reading`: synchronous, and it only reads.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from heapq import nsmallest
from typing import Final

from pydantic import BaseModel
from sqlalchemy import select

from schemas import (
    Abstention,
    Attribute,
    Commonality,
    ConsistencyEvidence,
    CriterionEvidence,
    EquivalenceEvidence,
    ExtractionEvidence,
    LabellingEvidence,
    ProbeEvidence,
    RetrievalEvidence,
    ToolCallEvidence,
    Verdict,
    attributes_of,
)
from store.commonalities import commonalities
from store.reading import Reader, Series, conditions, read_verdict
from store.retention import OLDEST_BRIEF
from store.tables import EVIDENCE, HOUR, VERDICTS, milliseconds, moment

SCANNED: Final = 50_000  # The latest verdicts of a series, which a report is about at most.
COMPARED: Final = 200  # Rejects, and accepts, whose attributes are read.
GROUPED: Final = 100  # Rejects that are grouped by their faults at most.

_CHARACTERS: Final = 160  # Of a fault.
_ALIKE: Final = 0.5  # Jaccard index from which two texts are of one group.


class FaultGroup(BaseModel):
    """Rejects with similar sentences at fault, and the reason of the first."""

    reason: str
    ids: tuple[str, ...]


class Failures(BaseModel):
    """A report on one series: how many rejects and accepts it has in that time, and how many of both were compared."""

    source: str
    model: str
    checker: str
    begin: datetime
    end: datetime
    rejects: int
    accepts: int
    compared: tuple[int, int]
    common: tuple[Commonality, ...]
    faults: tuple[tuple[str, int], ...]
    """The most frequent faults of the compared rejects, see `fault_of`, and how many have each."""
    unexplained: tuple[FaultGroup, ...]
    """The latest of the compared rejects that have none of `common`, the largest group first."""


def rejecting(reader: Reader, begin: datetime, end: datetime, **named: str | None) -> dict[Series, dict[str, int]]:
    """The series with rejects from that hour on, most rejects first, and their outcomes; None is any name."""
    hour = moment(milliseconds(begin) // HOUR * HOUR)
    wanted = {name: value for name, value in named.items() if value}.items()
    totals = reader.totals(hour, until=end, minutes=60).items()
    found = {one: of for one, of in totals if of.get("reject") and wanted <= one._asdict().items()}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1]["reject"], pair[0])))


def explained_by(attributes: Collection[Attribute], common: Sequence[Commonality]) -> Commonality | None:
    """The strongest of `common` that a verdict with these attributes has."""
    return next((one for one in common if Attribute(one.name, one.value) in attributes), None)


def read_failures(
    reader: Reader, series: Series, since: datetime, until: datetime, *, compared: int = COMPARED
) -> Failures:
    """Compare the rejects of a series with its accepts; raises `StoreAway`. Asked twice, it says the same."""
    # Rejects are kept longer: before the first accept there is nothing to compare them with.
    begin = max(since, moment(reader.scalar(OLDEST_BRIEF) or 0))
    of = VERDICTS.c
    wanted = conditions(series.wanted(outcomes=("reject", "accept"), since=begin, until=until))
    query = select(of.seq, of.outcome, of.checked_at).where(*wanted).order_by(of.checked_at.desc(), of.seq.desc())
    latest = reader.rows(query.with_hint(VERDICTS, "INDEXED BY verdict_series", "sqlite").limit(SCANNED))
    if len(latest) == SCANNED:
        begin = moment(latest[-1].checked_at)
    numbers = {outcome: [row.seq for row in latest if row.outcome == outcome] for outcome in ("reject", "accept")}
    drawn = [seq for some in numbers.values() for seq in nsmallest(compared, some, key=_mixed)]
    bodies = select(EVIDENCE.c.body).where(EVIDENCE.c.seq.in_(drawn)).order_by(EVIDENCE.c.seq)
    read = [one for one in reader.bodies(bodies, read_verdict) if not one.rechecked]
    rejects, accepts = ([one for one in read if one.outcome == of] for of in numbers)
    having = [attributes_of(one) for one in rejects]
    common = commonalities(having, [attributes_of(one) for one in accepts])
    left = [one for one, of in zip(rejects, having, strict=True) if explained_by(of, common) is None]
    return Failures(
        **series._asdict(),
        begin=begin,
        end=until,
        rejects=len(numbers["reject"]),
        accepts=len(numbers["accept"]),
        compared=(len(rejects), len(accepts)),
        common=tuple(common),
        faults=tuple(Counter(filter(None, map(fault_of, rejects))).most_common(5)),
        unexplained=tuple(fault_groups(left[-GROUPED:])),
    )


def _mixed(seq: int) -> int:
    """Numbers times the golden section are even over the range, as any run of them is."""
    return seq * 2_654_435_761 % 2**32


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


def fault_groups(rejects: Sequence[Verdict]) -> list[FaultGroup]:
    """Verdicts whose faults resemble that of the first of their group, the largest group first."""
    groups: list[tuple[frozenset[str], list[Verdict]]] = []
    for one in rejects:
        own = _pieces(f"{fault_of(one) or ''} {one.reason}")
        nearest = max(groups, key=lambda group: len(own & group[0]) / len(own | group[0]), default=None)
        if nearest is not None and len(own & nearest[0]) >= _ALIKE * len(own | nearest[0]):
            nearest[1].append(one)
        else:
            groups.append((own, [one]))
    groups.sort(key=lambda group: -len(group[1]))
    return [FaultGroup(reason=group[0].reason, ids=tuple(one.id for one in group)) for _, group in groups]


def _pieces(text: str) -> frozenset[str]:
    """The runs of letters that a text has; figures count as equal."""
    words = re.sub(r"\d+", "0", text[:300]).casefold().split()
    said = f" {' '.join(words)} "
    return frozenset(said[at : at + 4] for at in range(len(said)))
