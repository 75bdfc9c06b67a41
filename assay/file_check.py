"""The records on the lines of a file, checked in order: as many at once as keep the judge busy and fit in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from cachetools import LRUCache

from assay.config import Configuration
from checkers.checker import Checker, unclaimed
from checkers.model_patience import ModelLost, ModelPatience, ModelRefuses
from models.protocol import ModelFailed
from models.work import in_order
from schemas import Envelope, Generation, Turn, Unreadable, Verdict
from streams.record_lines import Line

_MOST_SESSIONS = 10_000
"""Of more, the ones silent for longest are forgotten."""
_AHEAD = 16
"""Windows of finished verdicts that wait for a slow record before them."""
_WINDOW = 64
"""Records in progress: enough for the batches of a local judge, and the least for an endpoint."""


@dataclass(slots=True)
class CheckedLine:
    """A line with its verdicts."""

    line: Line
    """Without its bytes."""
    kind: str | None = None
    """The record's kind; None if the line holds no record."""
    verdicts: list[Verdict] = field(default_factory=list)
    """One of each checker of the kind, in the checkers' order; an abstention if there is none."""
    faults: list[str] = field(default_factory=list)
    """Reasons for missing verdicts."""


Emit = Callable[[CheckedLine], None]


def window_of(loaded: Configuration) -> int:
    """Records in progress that keep the configured judge busy."""
    return _WINDOW if loaded.judge.backend == "local" else max(_WINDOW, 2 * loaded.judge.concurrency)


async def check_lines(
    checkers: Sequence[Checker[Any]],
    lines: AsyncIterator[Line],
    emit: Emit,
    patience: ModelPatience,
    *,
    max_bytes: int,
    window: int,
    strict: bool = False,
) -> None:
    """Call `emit` with each line, in order, as soon as it and all before it are finished.

    At most `window` lines are checked at the same time, and 16 times as many finished ones wait for a slow one.
    Records longer than `max_bytes` are faults; if `strict`, so are those with a misspelt field.
    """
    # A file does not tell when a conversation has ended.
    able = [checker for checker in checkers if checker.unit == "record"]
    follow = _follower(max((checker.turns for checker in able), default=0))

    async def each() -> AsyncIterator[tuple[Line, Envelope | Unreadable]]:
        async for line in lines:
            record: Envelope | Unreadable
            try:
                record = follow(line.record(max_bytes=max_bytes, strict=strict))
            except Unreadable as error:
                record = error
            # A finished line may wait for others and needs no bytes.
            yield replace(line, data=b""), record

    async def check(read: tuple[Line, Envelope | Unreadable]) -> CheckedLine:
        line, record = read
        if isinstance(record, Unreadable):
            return CheckedLine(line, faults=[f"{record.reason}: {record.detail}"])
        kind = str(getattr(record, "kind", ""))
        taking = [one for one in able if kind in one.kinds]
        if not taking:
            return CheckedLine(line, kind, [unclaimed(record, f"no selected checker checks the kind {kind!r}")])
        found = await asyncio.gather(*(_verdict(checker, record, patience) for checker in taking))
        verdicts = [one for one in found if isinstance(one, Verdict)]
        return CheckedLine(line, kind, verdicts, [one for one in found if isinstance(one, str)])

    await in_order(each(), check, emit, window=window, ahead=_AHEAD * window)


async def _verdict(checker: Checker[Any], record: Envelope, patience: ModelPatience) -> Verdict | str:
    """The verdict, or why there is none."""
    try:
        return await patience.until_answered(lambda: checker.check(record))
    except (ModelFailed, ModelLost) as error:
        return checker.abstain(record, "judge_failed", str(error))
    except ModelRefuses:
        raise
    except Exception as error:  # noqa: BLE001 - one record's failure must not cost the others their verdicts
        return f"{checker.name} failed on record {record.id}: {type(error).__name__}"


def _follower(most: int) -> Callable[[Envelope], Envelope]:
    """Puts each record of a file behind up to so many turns before it; an id is one turn, sessions are a tenant's."""
    sessions: LRUCache[tuple[str | None, str, str], dict[str, Turn]] = LRUCache(_MOST_SESSIONS)

    def follow(record: Envelope) -> Envelope:
        if not isinstance(record, Generation) or record.session is None or not most:
            return record
        said = sessions.setdefault((record.tenant, record.source, record.session), {})
        earlier = tuple(takewhile(lambda turn: turn.record_id != record.id, said.values()))
        said.setdefault(record.id, record.turn)
        if len(said) > 2 * most:
            del said[next(iter(said))]
        return record.after(earlier[-most:])

    return follow
