"""What the rejects of one series have in common, read from the store: bounded samples of rejects and of accepts.

Both are drawn from the same time, evenly and by the verdicts' numbers: a report that is asked for twice says the same.
As `store.reading`: synchronous, and it only reads.
"""

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, case, func, select

from schemas import Attribute, Commonality, Verdict, attributes_of
from store.commonalities import Attributes, commonalities
from store.faults import fault_of
from store.opening import faults
from store.reading import Reader, Series, read_verdict
from store.retention import OLDEST_BRIEF
from store.similar import grouped
from store.tables import EVIDENCE, VERDICTS, milliseconds, moment

SCANNED: Final = 50_000
"""Verdicts of a series that a report is about at most, the latest."""
COMPARED: Final = 200
"""Rejects, and accepts, whose attributes are read: about so many."""
GROUPED: Final = 100
"""Rejects that are grouped by their faults at most."""

_FAULTS: Final = 5

_FACTOR, _RANGE = 2_654_435_761, 2**32
"""Numbers times the golden section, of which each part of the range has its share of any run of numbers."""


class FaultGroup(NamedTuple):
    """Rejects with similar sentences at fault."""

    reason: str
    """That of the first of them."""
    fault: str | None
    ids: tuple[str, ...]
    """The verdicts'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """A report on one series."""

    series: Series
    begin: datetime
    end: datetime
    rejects: int
    """In that time."""
    accepts: int
    compared: tuple[int, int]
    """Rejects and accepts whose attributes were read."""
    common: tuple[Commonality, ...]
    """The strongest first."""
    faults: tuple[tuple[str, int], ...]
    """The most frequent faults of the compared rejects, see `store.faults`, and how many have each."""
    unexplained: tuple[FaultGroup, ...]
    """The latest of the compared rejects that have none of `common`, the largest group first."""


def explained_by(attributes: Attributes, common: Sequence[Commonality]) -> Commonality | None:
    """The strongest of `common` that a verdict with these attributes has."""
    return next((one for one in common if Attribute(one.name, one.value) in attributes), None)


def read_failures(
    reader: Reader, series: Series, since: datetime, until: datetime, *, compared: int = COMPARED
) -> Failures:
    """Compare the rejects of a series with its accepts; raises `StoreAway`."""
    with faults(), reader.engine.connect() as connection:
        # Rejects are kept longer: before the first accept there is nothing to compare them with.
        begin = max(milliseconds(since), connection.execute(OLDEST_BRIEF).scalar() or 0)
        latest = _latest(series, begin, milliseconds(until))
        of = select(latest.c.outcome, func.count(), func.min(latest.c.checked_at)).group_by(latest.c.outcome)
        numbers = {outcome: (number, at) for outcome, number, at in connection.execute(of)}
        if sum(number for number, _ in numbers.values()) == SCANNED:
            begin = min(at for _, at in numbers.values())
        number = latest.c.seq * _FACTOR % _RANGE
        shares = [(latest.c.outcome == one, _RANGE * compared // of) for one, (of, _) in numbers.items()]
        drawn = select(latest.c.seq).where(number < case(*shares, else_=0)) if shares else select(latest.c.seq)
        bodies = select(EVIDENCE.c.body).where(EVIDENCE.c.seq.in_(drawn)).order_by(EVIDENCE.c.seq)
        read = [read_verdict(zlib.decompress(body)) for body in connection.scalars(bodies)]
    rejects, accepts = ([one for one in read if one.outcome == of and not one.rechecked] for of in ("reject", "accept"))
    having = [attributes_of(one) for one in rejects]
    common = commonalities(having, [attributes_of(one) for one in accepts])
    left = [one for one, of in zip(rejects, having, strict=True) if explained_by(of, common) is None]
    return Failures(
        series=series,
        begin=moment(begin),
        end=until,
        rejects=numbers.get("reject", (0, 0))[0],
        accepts=numbers.get("accept", (0, 0))[0],
        compared=(len(rejects), len(accepts)),
        common=tuple(common),
        faults=tuple(Counter(filter(None, map(fault_of, rejects))).most_common(_FAULTS)),
        unexplained=tuple(fault_groups(left[-GROUPED:])),
    )


def fault_groups(rejects: Sequence[Verdict]) -> list[FaultGroup]:
    """Verdicts by their sentences at fault, the largest group first."""
    said = [fault_of(one) for one in rejects]
    texts = [f"{fault or ''} {one.reason}" for one, fault in zip(rejects, said, strict=True)]
    return [
        FaultGroup(rejects[group[0]].reason, said[group[0]], tuple(rejects[place].id for place in group))
        for group in grouped(texts)
    ]


def _latest(series: Series, begin: int, end: int) -> Any:
    of = VERDICTS.c
    query: Select[Any] = select(of.checked_at, of.seq, of.outcome).where(
        of.source == series.source, of.model == series.model, of.checker == series.checker
    )
    query = query.where(of.checked_at >= begin, of.checked_at < end, of.outcome != "abstain")
    query = query.with_hint(VERDICTS, "INDEXED BY verdict_series", "sqlite")
    return query.order_by(of.checked_at.desc(), of.seq.desc()).limit(SCANNED).subquery()
